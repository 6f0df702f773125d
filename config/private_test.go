package config

import (
	"fmt"
	"strings"
	"testing"
)

// Whatever is written where a secret is near, in whatever way it is wrong: no message
// repeats it.
func TestNoMessageRepeatsWhatIsWrittenNearASecret(t *testing.T) {
	wrong := []string{
		`"https://hooks.example/HUNTER2"`, `"ftp://x/HUNTER2"`, `"http://c:4318 HUNTER2"`, `"HUNTER2-x y"`, `"http://HUNTER2:99999"`, `"http://c/#HUNTER2"`, `"$HUNTER2"`,
		`[HUNTER2]`, `{HUNTER2: a}`, `{HUNTER2: {env: A}}`, `{env: A, HUNTER2}`, `{HUNTER2: a, HUNTER2: b}`, `!HUNTER2 a`, `{env: {HUNTER2: a}}`, `{"HUNTER2 x": 1}`, `{env: "HUNTER2 x"}`, `{file: [HUNTER2]}`,
	}
	places := map[string]string{
		"webhook of Slack":   "slack: {webhook: %s}",
		"its source":         "slack: {webhook: {from: %s}}",
		"bot token":          "slack: {channel: '#a', bot_token: {from: %s}}",
		"webhook's URL":      "webhook: {url: %s}",
		"webhook's source":   "webhook: {from: %s}",
		"webhook's header":   "webhook: {url: 'http://a.example', headers: [%s]}",
		"a header's value":   "webhook: {url: 'http://a.example', headers: [{name: A, value: %s}]}",
		"a header's source":  "webhook: {url: 'http://a.example', headers: [{name: A, from: %s}]}",
		"Alertmanager":       "alertmanager: {url: %s}",
		"its header":         "alertmanager: {url: 'http://a.example', headers: [%s]}",
		"Pushgateway":        "metrics: {push: {url: %s}}",
		"OTLP":               "otlp: {endpoint: %s}",
		"OTLP's header":      "otlp: {endpoint: 'http://a.example', headers: [%s]}",
		"OTLP's source":      "otlp: {endpoint: 'http://a.example', headers: [{name: A, from: %s}]}",
		"a target's header":  "defaults: {headers: [{name: A, from: %s}]}",
		"a target's headers": "defaults: {headers: [%s]}",
		"a query":            "defaults: {query: [{name: A, from: %s}]}",
	}
	for name, place := range places {
		for _, value := range wrong {
			text := smallest + fmt.Sprintf(place, value) + "\n"
			c, err := Parse(Options{}, File{Name: "perch.yaml", Data: []byte(text)})
			if shown := fmt.Sprint(err, c.Warnings); strings.Contains(shown, "HUNTER2") {
				t.Errorf("%s: %s: %s", name, value, shown)
			}
		}
	}
	_, err := Parse(Options{}, File{Name: "perch.yaml", Data: []byte(smallest + "slack: {webhook: {from: {env: 'HUNTER2 x'}}}\n")})
	if err == nil || !strings.Contains(err.Error(), "slack.webhook.from.env: got this value (not shown); want a variable's name") {
		t.Errorf("%v does not say what is wrong", err)
	}
}
