package calls

import (
	"encoding/json"
	"strings"
	"time"
)

// jsonForm is an object a line.
type jsonForm struct{ sure []namedUnit }

type namedUnit struct {
	name string
	unit time.Duration
}

// newJSONForm knows the fields whose names say their unit: nginx's, ECS's, and such with an
// ending.
func newJSONForm() jsonForm {
	sure := []namedUnit{{"request_time", time.Second}, {"event.duration", time.Nanosecond}}
	for _, name := range append(tookNames(), "request_time") {
		sure = append(sure,
			namedUnit{name + "_seconds", time.Second}, namedUnit{name + "_s", time.Second},
			namedUnit{name + "_ms", time.Millisecond}, namedUnit{name + "Ms", time.Millisecond},
			namedUnit{name + "_us", time.Microsecond}, namedUnit{name + "_ns", time.Nanosecond})
	}
	return jsonForm{sure}
}

func (jsonForm) says() string { return "JSON, an object a line, with a field such as time" }

// jsonTime is a usual name of a call's time.
type jsonTime struct {
	name   string
	begins bool // it is that of the call, and not of its answer
}

func jsonTimes() []jsonTime {
	return []jsonTime{
		{"start_time", true}, {"StartUTC", true}, {"StartLocal", true}, // Envoy, Traefik
		{"time", false}, {"timestamp", false}, {"@timestamp", false}, {"ts", false}, {"time_iso8601", false}, {"msec", false},
		{"time_local", false}, {"date", false}, {"t", false},
	}
}

// object is a line's fields.
type object map[string]json.RawMessage

func (o object) has(name string) bool { return scalar(o[name]) != "" }

// value is a field by its name. One with dots, as ECS has them, may be in an object in an object.
func (o object) value(name string) json.RawMessage {
	if raw, flat := o[name]; flat {
		return raw
	}
	outer, inner, dotted := strings.Cut(name, ".")
	if !dotted || !strings.HasPrefix(string(o[outer]), "{") {
		return nil
	}
	var within object
	if json.Unmarshal(o[outer], &within) != nil {
		return nil
	}
	return within.value(inner)
}

func (f jsonForm) read(line string) (made, bool) {
	if !strings.HasPrefix(strings.TrimSpace(line), "{") {
		return made{}, false
	}
	var fields object
	if json.Unmarshal([]byte(line), &fields) != nil {
		return made{}, false
	}
	for _, name := range jsonTimes() {
		at, ok := timeOf(scalar(fields[name.name]))
		if !ok {
			continue
		}
		m := made{at: at, ends: !name.begins, failed: fields.failed()}
		m.took, m.noUnit = fields.took(f.sure)
		return m, true
	}
	return made{}, false
}

// took is how long the call took, negative where it is not known; true: it is said without a
// unit that is sure.
func (o object) took(sure []namedUnit) (time.Duration, bool) {
	for _, f := range sure {
		if took, ok := tookOf(scalar(o.value(f.name)), f.unit); ok {
			return took, false
		}
	}
	if name, unit := o.knownLog(); unit > 0 {
		if took, ok := tookOf(scalar(o[name]), unit); ok {
			return took, false
		}
	}
	unsure := false
	for _, name := range append(tookNames(), "Duration", "responseTime") {
		text := scalar(o[name])
		if took, ok := tookOf(text, 0); ok { // it has its own unit
			return took, false
		}
		_, number := tookOf(text, time.Nanosecond)
		unsure = unsure || number
	}
	return -1, unsure
}

// tookNames are the usual names of how long a call took. They say no unit.
func tookNames() []string {
	return []string{"duration", "elapsed", "latency", "took", "response_time", "request_duration", "time_taken", "elapsed_time"}
}

// knownLog is the field of a server's own log, where this is one, and its unit.
func (o object) knownLog() (string, time.Duration) {
	switch {
	case o.has("start_time"): // Envoy, and Istio
		return "duration", time.Millisecond
	case scalar(o["msg"]) == "handled request": // Caddy
		return "duration", time.Second
	case o.has("StartUTC") || o.has("StartLocal"): // Traefik
		return "Duration", time.Nanosecond
	}
	return "", 0
}

// scalar is a JSON string's or number's text; empty: it is neither.
func scalar(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if n := string(raw); n != "" && (n[0] == '-' || n[0] >= '0' && n[0] <= '9') {
		return n
	}
	return ""
}
