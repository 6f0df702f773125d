//go:build peers

package peers

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/diagnose/clients"
)

// advisedLimit is below the second after which the lab ends idle connections.
// Settings that know only whole seconds get one second.
const advisedLimit = 800 * time.Millisecond

// advised is one kind of setting that the catalog advises.
type advised struct {
	name     string
	template func(clients.Settings) string
	columns  []column
	works    func(j clientJob, with, without clientMet) error
}

// advisedSettings are those that perch's advice is made of.
func advisedSettings() []advised {
	idle := []column{{scenario: "idle_fin", closes: true}, {scenario: "healthy", rests: true}}
	return []advised{
		{"max_idle", func(s clients.Settings) string { return s.MaxIdle }, idle, dropsWhatIsOld},
		{"validate", func(s clients.Settings) string { return s.Validate }, idle, looksFirst},
		{"retry", func(s clients.Settings) string { return s.Retry }, []column{{scenario: "eof"}, {scenario: "eof", tls: true}}, repeatsSafely},
	}
}

// notRun are the settings that no package of Debian 12 can run, beside those of
// unplayed.
func notRun() map[string]string {
	return map[string]string{
		"node-fetch retry": "RetryAgent comes with a newer undici than Debian 12's; Node exports none",
	}
}

// TestAdviceWorks puts each setting, as perch would advise it, into the client's
// own program: it must compile, and the client must survive what it does not
// survive without.
func TestAdviceWorks(t *testing.T) {
	plain := newPrograms(t)
	for _, a := range advisedSettings() {
		t.Run(a.name, func(t *testing.T) {
			with, jobs := a.programs(t)
			failed := a.fail(t, plain, with, jobs)
			// OkHttp, Go and others drop old connections from a timer, which on a
			// busy machine can be as late as anything else: twice is no accident.
			for j, err := range a.fail(t, plain, with, slices.Collect(maps.Keys(failed))) {
				t.Errorf("%s with %q: %v, before that: %v", j, with.replaced[j.kind+" "+a.name], err, failed[j])
			}
		})
	}
}

// fail plays the jobs with and without the setting, and says which did not come
// out as they should.
func (a advised) fail(t *testing.T, plain, with *clientPrograms, jobs []clientJob) map[clientJob]error {
	t.Helper()
	without := playClients(t, plain, slices.Clone(jobs))
	survived := playClients(t, with, slices.Clone(jobs))
	failed := map[clientJob]error{}
	for _, j := range jobs {
		was, is := without[j.String()], survived[j.String()]
		t.Logf("%s: without: %s: %s; with: %s: %s", j, was.does(), was, is.does(), is)
		if err := a.works(j, is, was); err != nil {
			failed[j] = err
		}
	}
	return failed
}

// programs are the programs with the setting in them, and what they are to play.
func (a advised) programs(t *testing.T) (*clientPrograms, []clientJob) {
	t.Helper()
	with := newPrograms(t)
	var jobs []clientJob
	for _, kind := range clients.Kinds() {
		key := kind + " " + a.name
		client, _ := clients.Lookup(kind)
		template := a.template(client.Settings)
		if template == "" || unplayed()[kind] != "" || notRun()[key] != "" {
			continue
		}
		code := clients.Setting(template, advisedLimit)
		if code == "" {
			code = clients.Setting(template, time.Second)
		}
		if strings.HasPrefix(code, "-D") {
			with.java = append(with.java, code)
		} else {
			with.replaced[key] = code
		}
		for _, c := range a.columns {
			if secure := kind == "requests"; a.name == "retry" && c.tls != secure {
				continue // its setting is for https
			}
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				jobs = append(jobs, clientJob{kind: kind, variant: variantTrusting, column: c, method: method})
			}
		}
	}
	return with, jobs
}

// dropsWhatIsOld: nothing is written into a connection that the server has
// closed, and one that still lives is not used again either.
func dropsWhatIsOld(j clientJob, with, without clientMet) error {
	if j.column.rests && !without.onOld {
		return fmt.Errorf("without the setting: %s, want the old connection used again", without)
	}
	if with.does() != clients.Notices {
		return fmt.Errorf("%s: %s, want a new connection and nothing sent on the old one", with.does(), with)
	}
	return nil
}

// looksFirst: nothing is written into a connection that the server has closed,
// and one that still lives is used again.
func looksFirst(j clientJob, with, without clientMet) error {
	if j.column.rests {
		if with.Status != http.StatusOK || !with.onOld {
			return fmt.Errorf("%s, want the old connection used again", with)
		}
		return nil
	}
	if without.does() == clients.Notices {
		return fmt.Errorf("without the setting: %s, want the request written to the dead connection", without)
	}
	if with.does() != clients.Notices {
		return fmt.Errorf("%s: %s, want a new connection and nothing sent on the old one", with.does(), with)
	}
	return nil
}

// repeatsSafely: a GET whose connection was closed is sent again, a POST is not.
func repeatsSafely(j clientJob, with, _ clientMet) error {
	if j.method == http.MethodGet && (with.does() != clients.Retries || with.Status != http.StatusOK) {
		return fmt.Errorf("%s: %s, want it sent again", with.does(), with)
	}
	if j.method == http.MethodPost && with.requests != 1 {
		return fmt.Errorf("%s: %s, want it not sent again", with.does(), with)
	}
	return nil
}
