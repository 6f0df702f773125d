package lab_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"perch.example/lab"
)

const docs = "../docs/lab.md"

const docsIntro = `# The lab

<!-- Written by go test ./lab -run Docs -update; change lab/ instead. -->

A server that misbehaves on purpose: one scenario for each reason (reasons.md) that can be met over HTTP/1.1, HTTP/2 and
TLS. It knows nothing of perch, so any HTTP client can be tried on it. ` + "`perch lab`" + ` lists the scenarios and serves them
on loopback; tests start them with ` + "`lab.Start`" + `.

- The first answers of a connection can be good ones (` + "`Healthy`" + ` in the options): then the scenario shows itself on reuse,
  and a control on a fresh connection works.
- *Reuse* scenarios answer the first request of a connection well and show themselves when it is used again after the
  time in the table, which follows the idle timeout (1 s unless set).
- Every scenario can be served over TLS, with an authority made at the start; those that say TLS always are.
- *HTTP/2* scenarios speak nothing else: over TLS by ALPN, plain by prior knowledge (h2c). No request is answered before the
  client has acknowledged the server's SETTINGS.
- Those with *a server behind it* are forward proxies: a client is told their URL as its proxy's. They open connections to
  loopback and to nowhere else.
- *Root* scenarios attach a socket filter, for which newer Linux kernels want CAP_NET_ADMIN.

| scenario | reason | needs | reuse after | what the server does |
|---|---|---|---|---|
`

func TestDocs(t *testing.T) {
	t.Parallel()
	var want strings.Builder
	want.WriteString(docsIntro)
	for _, s := range lab.Scenarios() {
		after := ""
		switch {
		case s.Held && s.IdleFor == 0:
			after = "at once"
		case s.Held:
			after = s.IdleFor.String()
		}
		fmt.Fprintf(&want, "| `%s` | `%s` | %s | %s | %s |\n", s.Name, s.Reason, s.Needs(), after, s.About)
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(docs, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Errorf("%s is not what the scenarios say; write it anew with -update", docs)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := lab.Describe(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if got, want := len(lines), len(lab.Scenarios())+1; got != want {
		t.Fatalf("%d lines, want %d", got, want)
	}
	column := strings.Index(lines[0], "WHAT IT DOES")
	for i, s := range lab.Scenarios() {
		if line := lines[i+1]; !strings.HasPrefix(line, s.Name+" ") || line[column:] != s.About {
			t.Errorf("not aligned: %q", line)
		}
	}
}
