package probes_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"perch.example/probes"
)

// hidden is long enough to be found in whatever is printed.
const hidden = "hunter2-s3cr3t"

// around is a struct as a careless caller could print it: fmt asks no method
// of an unexported field.
type around struct {
	Open   probes.Secret
	closed probes.Secret
	Ptr    *probes.Secret
	List   []probes.Secret
	Map    map[string]probes.Secret
	Any    any
}

func wrapped() around {
	s := probes.NewSecret(hidden)
	return around{Open: s, closed: s, Ptr: &s, List: []probes.Secret{s}, Map: map[string]probes.Secret{"a": s}, Any: s}
}

// leaks reports whether text holds the value, plainly or as any verb of fmt
// would spell its bytes.
func leaks(text string) bool {
	lower := strings.ToLower(text)
	for _, spelled := range []string{
		hidden, fmt.Sprintf("%x", hidden), fmt.Sprintf("% x", hidden), fmt.Sprintf("%#x", []byte(hidden))[2:],
		strings.Trim(fmt.Sprintf("%d", []byte(hidden)), "[]"), fmt.Sprintf("%U", []rune(hidden))[1:20],
	} {
		if strings.Contains(lower, strings.ToLower(spelled)) {
			return true
		}
	}
	return false
}

func TestSecretHidesFromEveryVerb(t *testing.T) {
	s := probes.NewSecret(hidden)
	values := map[string]any{
		"itself": s, "pointer": &s, "slice": []probes.Secret{s}, "array": [1]probes.Secret{s},
		"map": map[string]probes.Secret{"a": s}, "key": map[probes.Secret]int{s: 1},
		"struct": wrapped(), "struct pointer": func() *around { w := wrapped(); return &w }(),
		"zero": probes.Secret{}, "error": fmt.Errorf("with %v and %d", s, s),
	}
	verbs := []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "% x", "%X", "%d", "%o", "%b", "%c", "%U", "%e", "%f", "%g", "%t", "%p", "%T", "%w", "%z", "%20.3s", "%[1]*v"}
	for name, v := range values {
		for _, verb := range verbs {
			if got := fmt.Sprintf(verb, v); leaks(got) { //nolint:govet // wrong verbs are the point
				t.Errorf("%s as %s: %q", name, verb, got)
			}
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%20.3s"} {
		if got := fmt.Sprintf(verb, s); got != "[secret]" { //nolint:govet // likewise
			t.Errorf("%s gives %q, want [secret]", verb, got)
		}
	}
}

func TestSecretHidesFromLogs(t *testing.T) {
	s, w := probes.NewSecret(hidden), wrapped()
	var out bytes.Buffer
	level := &slog.HandlerOptions{Level: slog.LevelDebug}
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, level), slog.NewJSONHandler(&out, level)} {
		l := slog.New(h)
		l.Debug("all", "secret", s, "pointer", &s, "in", w, "at", &w, "list", []probes.Secret{s}, "error", errors.New(s.String()))
		l.With("kept", s).WithGroup("g").Info("grouped", slog.Group("h", "secret", s))
	}
	if leaks(out.String()) {
		t.Errorf("logged: %s", out.String())
	}
	if n := strings.Count(out.String(), "[secret]"); n < 8 {
		t.Errorf("only %d secrets were logged as such: %s", n, out.String())
	}
}

func TestSecretHidesFromEncodings(t *testing.T) {
	type open struct {
		Secret probes.Secret
		Ptr    *probes.Secret
		List   []probes.Secret
	}
	s := probes.NewSecret(hidden)
	v := open{s, &s, []probes.Secret{s}}
	encoders := map[string]func(any) ([]byte, error){
		"json": json.Marshal, "xml": xml.Marshal, "yaml": yaml.Marshal,
		"gob": func(v any) ([]byte, error) {
			var b bytes.Buffer
			err := gob.NewEncoder(&b).Encode(v)
			return b.Bytes(), err
		},
		"template": func(v any) ([]byte, error) {
			var b bytes.Buffer
			err := template.Must(template.New("t").Parse(`{{.}} {{printf "%d %#v" . .}} <script>{{.}}</script>`)).Execute(&b, v)
			return b.Bytes(), err
		},
	}
	for name, encode := range encoders {
		for _, v := range []any{s, &s, v, &v, []probes.Secret{s}, map[string]probes.Secret{"a": s}, wrapped()} {
			got, err := encode(v)
			if leaks(string(got)) || err != nil && leaks(err.Error()) {
				t.Errorf("%s of %T: %s, %v", name, v, got, err)
			}
			if err != nil && (name == "json" || name == "yaml") {
				t.Errorf("%s of %T: %v", name, v, err)
			}
		}
	}
	if got, err := json.Marshal(v); err != nil || string(got) != `{"Secret":"[secret]","Ptr":"[secret]","List":["[secret]"]}` {
		t.Errorf("json: %s, %v", got, err)
	}
}

func TestSecretHidesFromPanics(t *testing.T) {
	o := probes.Panicked(probes.Observation{}, probes.NewSecret(hidden))
	if leaks(o.Problem) || leaks(o.CutDetail) {
		t.Errorf("a panic tells: %s", o.Problem)
	}
}

func TestSecretReveals(t *testing.T) {
	if got := probes.NewSecret(hidden).Reveal(); got != hidden {
		t.Errorf("revealed %q", got)
	}
	if got := (probes.Secret{}).Reveal(); got != "" {
		t.Errorf("the zero value reveals %q", got)
	}
}

func TestSourceNamesItselfOnly(t *testing.T) {
	for want, s := range map[string]probes.Source{
		"env TOKEN": {Env: "TOKEN"}, "file /run/token": {File: "/run/token"},
	} {
		if s.String() != want || s.Zero() {
			t.Errorf("%#v is called %q, zero %v", s, s, s.Zero())
		}
	}
	if !(probes.Source{}).Zero() {
		t.Error("the zero source names something")
	}
}
