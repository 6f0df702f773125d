//go:build peers

package peers

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// clientRun is one process that plays the jobs of one language's clients.
type clientRun struct {
	name    string // of the run, in errors
	kinds   []string
	only    string // the one variant that it plays; empty: all but those that are played apart
	program func(t *testing.T, dir string, replaced map[string]string) []string
	java    []string // the JVM's own options
}

// unplayed are the catalog's clients that Debian 12 does not have, with the
// reason. Their facts, their classes and their advice stay documented.
func unplayed() map[string]string {
	return map[string]string{
		"dotnet-httpclient": "Debian 12 has no .NET",
		"reactor-netty":     "Debian 12 has Netty, but no reactor-netty",
	}
}

// clientRuns are the processes that together play every other client.
func clientRuns() []clientRun {
	return []clientRun{
		{name: "java", program: javaProgram,
			kinds: []string{"apache-httpclient-4.5", "apache-httpclient-5.2", "okhttp", "jdk-httpclient", "httpurlconnection"}},
		// Its only switch is the JVM's.
		{name: "java, retryPost off", program: javaProgram, only: "retry_post_off", java: []string{"-Dsun.net.http.retryPost=false"},
			kinds: []string{"httpurlconnection"}},
		{name: "python", program: pythonProgram, kinds: []string{"requests", "urllib3", "aiohttp", "httpx"}},
		{name: "node", program: nodeProgram, kinds: []string{"node-http", "node-fetch"}},
		{name: "go", program: goProgram, kinds: []string{"go-net-http"}},
		{name: "libcurl", program: curlProgram, kinds: []string{"libcurl"}},
	}
}

// source is one of the programs' files, with each line that is marked with
// `setting: KIND NAME, NAME` made to use the setting of replaced ("KIND NAME")
// in place of its own. A statement takes the place of the whole line, an
// expression that of a line's right side, or of its only call.
func source(t *testing.T, name string, replaced map[string]string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("clients", name))
	if err != nil {
		t.Fatal(err)
	}
	marked := regexp.MustCompile(`(?m)^(\s*)((?:[\w<>. ]+ :?= )?)(.*?)(;?)  ?(?://|#) setting: (\S+) (.*)$`)
	return marked.ReplaceAllStringFunc(string(text), func(line string) string {
		part := marked.FindStringSubmatch(line)
		for _, setting := range strings.Split(part[6], ", ") {
			key := part[5] + " " + setting
			code, ok := replaced[key]
			if !ok {
				continue
			}
			delete(replaced, key)
			if strings.HasSuffix(code, ";") {
				return part[1] + code
			}
			return part[1] + part[2] + code + part[4]
		}
		return line
	})
}

// copied writes the program's files into dir and returns their paths.
func copied(t *testing.T, dir string, replaced map[string]string, names ...string) []string {
	t.Helper()
	var paths []string
	for _, name := range names {
		paths = append(paths, write(t, filepath.Join(dir, filepath.Base(name)), source(t, name, replaced)))
	}
	if len(replaced) > 0 {
		t.Errorf("no line of %v is marked for the settings %v", names, replaced)
	}
	return paths
}

// build runs a compiler. What it says is the test's failure: a missing client
// as well as a setting that is not the language's.
func build(t *testing.T, packages string, command ...string) {
	t.Helper()
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v (it needs the packages %s; .ci/run has the list)\n%s", command[0], err, packages, out)
	}
}

const javaPackages = "openjdk-17-jdk-headless libhttpclient-java libhttpclient5-java libokhttp-java libspring-web-java"

func javaProgram(t *testing.T, dir string, replaced map[string]string) []string {
	t.Helper()
	jars := []string{dir}
	for _, jar := range []string{
		"httpclient", "httpcore", "httpclient5", "httpcore5", "httpcore5-h2", "okhttp", "okio", "commons-logging", "commons-codec",
		"slf4j-api", "slf4j-nop", "spring3-web", "spring3-core", "spring3-beans",
	} {
		jars = append(jars, "/usr/share/java/"+jar+".jar")
	}
	classPath := strings.Join(jars, ":")
	files := copied(t, dir, replaced,
		"java/Clients.java", "java/Apache45.java", "java/Apache52.java", "java/Others.java", "java/Spring.java",
		"java/Trusting.java")
	build(t, javaPackages, append([]string{"javac", "-d", dir, "-cp", classPath}, files...)...)
	return []string{"java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-Djava.security.egd=file:/dev/urandom",
		"-Dorg.apache.commons.logging.Log=org.apache.commons.logging.impl.NoOpLog", "-cp", classPath, "Clients"}
}

// python is Debian's: another one on the PATH has not Debian's packages.
const python = "/usr/bin/python3"

func pythonProgram(t *testing.T, dir string, replaced map[string]string) []string {
	t.Helper()
	path := copied(t, dir, replaced, "clients.py")[0]
	build(t, "python3-requests python3-aiohttp python3-httpx python3-h2", python, "-c", "import requests, urllib3, aiohttp, httpx, h2")
	return []string{python, "-W", "ignore", path}
}

func nodeProgram(t *testing.T, dir string, replaced map[string]string) []string {
	t.Helper()
	path := copied(t, dir, replaced, "clients.js")[0]
	build(t, "nodejs", "node", "--check", path)
	return []string{"node", path}
}

func goProgram(t *testing.T, dir string, replaced map[string]string) []string {
	t.Helper()
	path := copied(t, dir, replaced, "gonet/main.go")[0]
	binary := filepath.Join(dir, "gonet")
	build(t, "Go", "go", "build", "-tags", "peers", "-o", binary, path)
	return []string{binary}
}

func curlProgram(t *testing.T, dir string, replaced map[string]string) []string {
	t.Helper()
	path := copied(t, dir, replaced, "curl.c")[0]
	binary := filepath.Join(dir, "curl")
	build(t, "gcc libc6-dev libcurl4-openssl-dev", "gcc", "-Wall", "-Werror", "-O1", "-o", binary, path, "-lcurl", "-lpthread")
	return []string{binary}
}

// clientPatience is how long a process may take for all of its jobs.
const clientPatience = 90 * time.Second

// runClients hands the lines to a program and decodes each line that it prints.
// The program knows no names but those of files: a name server's mood is no
// part of the test.
func runClients[T any](t *testing.T, argv []string, lines []string) []T {
	t.Helper()
	switched := write(t, filepath.Join(worldDir(t), "nsswitch.conf"), "hosts: files\n")
	const within = `mount --bind "$0" /etc/nsswitch.conf && exec "$@"`
	cmd := exec.CommandContext(t.Context(), "unshare", append([]string{"--mount", "sh", "-c", within, switched}, argv...)...)
	cmd.WaitDelay = time.Second
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"} // no proxy, no authority of this machine's
	timer := time.AfterFunc(clientPatience, func() { _ = cmd.Cancel() })
	defer timer.Stop()
	var out bytes.Buffer
	var said locked
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(strings.Join(lines, "\n")+"\n"), &out, &said
	if err := cmd.Run(); err != nil {
		t.Errorf("running %v: %v", argv, err)
	}
	if said.String() != "" {
		t.Logf("%v said:\n%s", argv, said.String())
	}
	var all []T
	for scanner := bufio.NewScanner(&out); scanner.Scan(); {
		var one T
		if err := json.Unmarshal(scanner.Bytes(), &one); err != nil {
			t.Errorf("reading what %v printed: %v: %s", argv, err, scanner.Text())
			continue
		}
		all = append(all, one)
	}
	if len(all) != len(lines) {
		t.Logf("%v printed %d lines for %d jobs", argv, len(all), len(lines))
	}
	return all
}

// clientPrograms builds each program once.
type clientPrograms struct {
	dir      string
	mu       sync.Mutex
	replaced map[string]string   // see source
	java     []string            // the JVM's options
	built    map[string][]string // by the first kind: a program has its kinds together
}

// newPrograms are the programs as they are, for the length of the test.
func newPrograms(t *testing.T) *clientPrograms {
	t.Helper()
	return &clientPrograms{dir: worldDir(t), replaced: map[string]string{}, built: map[string][]string{}}
}

// argv is how to start a run.
func (p *clientPrograms) argv(t *testing.T, r clientRun) []string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	language := strings.Split(r.name, ",")[0]
	argv, ok := p.built[language]
	if !ok {
		mine := map[string]string{}
		for key, setting := range p.replaced {
			for _, kind := range r.kinds {
				if strings.HasPrefix(key, kind+" ") {
					mine[key] = setting
				}
			}
		}
		argv = r.program(t, p.dir, mine)
		p.built[language] = argv
	}
	if language == "java" {
		argv = slices.Concat(argv[:1], p.java, r.java, argv[1:])
	}
	return argv
}

// line is a job as the programs read it.
func (j clientJob) line() string {
	variants := append([]string{"plain"}, j.variant)
	if j.column.cold {
		variants = append(variants, "cold")
	}
	if j.column.h2 {
		variants = append(variants, "h2")
	}
	return strings.Join([]string{
		j.id, j.kind, strings.Trim(strings.Join(variants, ","), ","), j.url, j.method,
		fmt.Sprint(j.idle().Milliseconds()), fmt.Sprint(cmp.Or(j.column.patience, patient).Milliseconds()),
	}, "\t")
}
