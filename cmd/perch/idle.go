package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"perch.example/config"
	"perch.example/diagnose/clients"
	"perch.example/plan"
	"perch.example/probes"
	"perch.example/report"
)

// idleFlags are what `perch idle` takes beside the URL.
type idleFlags struct {
	longest      time.Duration
	connections  int
	rate         string
	headers      []string
	unused       bool
	tcpKeepAlive time.Duration
	caFile       string
	protocol     string
	proxy        string
	calls        string
	client       string
	pool         int
	run          runFlags
}

func newIdle(sys system) *cobra.Command {
	var f idleFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use: "idle URL", Short: "Measure how long a path keeps an idle connection, and the way it closes", Args: cobra.ExactArgs(1),
		Long: `Opens a few connections to URL, makes one GET on each, holds them idle and watches who closes first and when;
then reuses each blindly, with a control on a fresh connection. Needs no config. It speaks HTTP/1.1, unless --protocol
says what your client speaks: servers have another timeout for HTTP/2. Where nobody sees connections
end (a path that forgets them in silence, or resets what it has forgotten), it looks closer, round by round: it
holds several at once between the longest hold that worked and the shortest that did not, down to 100 ms or 1%.`,
	}
	cmd.Flags().DurationVar(&f.longest, "max", 6*time.Minute, "longest `hold`")
	cmd.Flags().IntVar(&f.connections, "connections", 3, "connections to hold at once, at shorter and shorter holds")
	cmd.Flags().StringVar(&f.rate, "rate", "1/s", "largest `rate` of requests")
	cmd.Flags().StringArrayVar(&f.headers, "header", nil, "`\"Name: value\"` to send (repeatable); the value is treated as a secret")
	cmd.Flags().BoolVar(&f.unused, "unused", false, "also hold connections that never carried a request: servers have another timeout for those")
	cmd.Flags().DurationVar(&f.tcpKeepAlive, "tcp-keep-alive", 0, "send TCP keep-alive packets this often while holding (0: none)")
	cmd.Flags().StringVar(&f.protocol, "protocol", string(probes.ProtocolHTTP1), "`HTTP` that is spoken: http/1.1, h2 (over TLS), h2c (HTTP/2 over plain TCP), or auto (over TLS what ALPN settles)")
	cmd.Flags().StringVar(&f.proxy, "proxy", "environment", "forward proxy on the way: a `URL` (http, https, socks5, socks5h), none, or environment: what HTTPS_PROXY, HTTP_PROXY and NO_PROXY say")
	cmd.Flags().StringVar(&f.caFile, "ca-file", "", "trust only the authorities in this PEM `FILE` (default: the system's)")
	cmd.Flags().StringVar(&f.calls, "calls", "", "predict from this `FILE` of the times of your application's calls (a time a line, or an access log) how many meet a dead connection")
	cmd.Flags().StringVar(&f.client, "client", "", "with --calls: `KIND` of the application's HTTP client, of the catalog (default: all common ones)")
	cmd.Flags().IntVar(&f.pool, "pool", 0, "with --calls: how many connections the application's pool has (0: as many as its calls need)")
	cmd.Flags().Uint64Var(&f.run.seed, "seed", 0, "seed of the trace ids (0: a new one)")
	cmd.Flags().DurationVar(&f.run.deadline, "deadline", 0, "cut the run short after this long (0: none)")
	out.bind(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := errors.Join(f.run.complete(), out.check()); err != nil {
			return usage(err)
		}
		log, err := logger(cmd, sys)
		if err != nil {
			return usage(err)
		}
		sys, cfg, err := f.config(cmd.Context(), sys, args[0])
		if err != nil {
			return usage(err)
		}
		for _, w := range cfg.Warnings {
			log.Warn("idle", "warning", w)
		}
		p := &pass{kept: &kept{}, sys: sys, cfg: cfg, flags: f.run, out: out, log: log}
		if f.calls != "" {
			if _, err := p.callLogs.read(f.calls); err != nil { // before anything is sent
				return usage(fmt.Errorf("--calls: %w", err))
			}
		}
		if f.client != "" {
			p.predictsFor = &probes.Client{Kind: f.client}
		}
		log.Info("holding connections; the report comes when the last one has ended", "connections", f.connections, "longest", f.longest)
		return measureIdle(cmd.Context(), &search{pass: p, shortest: shortestHold(cfg.Targets[0].Budget()), atOnce: f.connections})
	}
	return cmd
}

// measureIdle is a run whose report is the measurement.
func measureIdle(ctx context.Context, p *search) error {
	if err := p.makePlan(); err != nil {
		return err
	}
	ctx, cancel := withDeadline(ctx, p.flags.deadline, 0)
	defer cancel()
	run := p.begin(ctx)
	p.judge(&run, p.bound(ctx, &run))
	run.Problems = p.problems
	run.Clients = commonClients(run, p.idlePath)
	p.text = report.Idle
	if err := p.report(run); err != nil {
		return own(err)
	}
	if code := p.out.exitCode(run); code != exitOK {
		return &exitError{code: code}
	}
	return nil
}

// commonClients says what each client of the catalog would meet on the path
// that was measured, with a GET and with a POST; nil: nothing was.
func commonClients(run probes.Run, path clients.Path) []probes.ClientOutcome {
	if len(run.Idle) == 0 || run.Idle[0].How == "" || notOfIdleness(run.Outcomes) {
		return nil
	}
	return clients.Met(path, run.Idle[0].Target)
}

// notOfIdleness reports whether connections ended for something else than idle
// age: then no idle limit of a client is safe, and none is in danger.
func notOfIdleness(outcomes []probes.Outcome) bool {
	ended := false
	for _, o := range outcomes {
		if o.Diagnosis != "" && o.Diagnosis != probes.DiagnosisUndeclaredClose {
			return false
		}
		ended = ended || o.Diagnosis != ""
	}
	return ended
}

// config turns the flags into a config, so that the same checks hold. Header
// values travel as environment variables of this command's own: what comes
// from a source is a secret everywhere.
func (f idleFlags) config(ctx context.Context, sys system, raw string) (system, config.Config, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return sys, config.Config{}, errors.New("idle: want an http or https URL such as https://api.example.com/ping")
	case u.User != nil:
		return sys, config.Config{}, errors.New(`idle: credentials in the URL are not sent; give them as --header "Authorization: ..."`)
	}
	if err := f.check(); err != nil {
		return sys, config.Config{}, err
	}
	values := map[string]string{}
	headers := []any{}
	for i, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return sys, config.Config{}, fmt.Errorf("--header %d: want \"Name: value\"", i+1)
		}
		variable := fmt.Sprintf("PERCH_IDLE_HEADER_%d", i)
		values[variable] = strings.TrimSpace(value)
		headers = append(headers, map[string]any{"name": strings.TrimSpace(name), "from": map[string]any{"env": variable}})
	}
	env := sys.env
	sys.env = func(name string) (string, bool) {
		if v, ok := values[name]; ok {
			return v, true
		}
		return env(name)
	}
	doc, err := json.Marshal(f.document(u, headers))
	if err != nil {
		return sys, config.Config{}, err
	}
	options := configOptions(sys)
	policy, err := loadPolicy(sys)
	if err != nil {
		return sys, config.Config{}, err
	}
	options.Policy = byHand(policy)
	if err := deniedPath(ctx, options.Policy, u.Hostname()); err != nil {
		return sys, config.Config{}, fmt.Errorf("idle: nothing was sent: %w", err)
	}
	cfg, err := config.Parse(options, config.File{Name: "idle", Data: doc})
	if err != nil {
		return sys, cfg, byFlags(err)
	}
	cfg.Targets[0].MaxConnections *= 2 // holds of nearly one length have their controls at nearly one time
	cfg.Targets[0].Name = u.Host       // what people know it by; a config's names are stricter
	if err := f.fits(cfg.Targets[0].Budget()); err != nil {
		return sys, cfg, err
	}
	for i := range cfg.Targets[0].Probes {
		cfg.Targets[0].Probes[i].Target = u.Host
		cfg.Targets[0].Probes[i].Search = true
		cfg.Targets[0].Probes[i].Calls, cfg.Targets[0].Probes[i].Pool = f.calls, f.pool
		cfg.Targets[0].Probes[i].Holds = f.holds(cfg.Targets[0].Budget())
	}
	return sys, cfg, nil
}

func (f idleFlags) check() error {
	switch {
	case f.longest < time.Second || f.longest > 24*time.Hour:
		return fmt.Errorf("--max %s: want 1s to 24h", f.longest)
	case f.connections < 1 || f.connections > 20:
		return fmt.Errorf("--connections %d: want 1 to 20", f.connections)
	case f.tcpKeepAlive < 0:
		return fmt.Errorf("--tcp-keep-alive %s: want a positive duration, or 0 for none", f.tcpKeepAlive)
	case f.calls == "" && (f.client != "" || f.pool != 0):
		return errors.New("--client and --pool say through which pool the calls of --calls FILE go: give that, too")
	case f.pool < 0:
		return fmt.Errorf("--pool %d: want the number of the pool's connections, or 0 for as many as the calls need", f.pool)
	}
	if _, known := clients.Lookup(f.client); f.client != "" && !known {
		return fmt.Errorf("--client %q: want one of %s", f.client, strings.Join(clients.Kinds(), ", "))
	}
	return nil
}

// fits refuses a hold so short that its warm-up, reuse and control would break
// the budget, in the words of this command's flags.
func (f idleFlags) fits(budget float64) error {
	if shortest := shortestHold(budget); f.longest < shortest {
		return fmt.Errorf("--max %s: at --rate %s a hold takes at least %s, so that its warm-up, reuse and control keep the budget; a longer --max, or --rate 4/s and more, would do", f.longest, f.rate, shortest)
	}
	return nil
}

// shortestHold keeps a warm-up out of the window of its reuse and control; a
// budget of 4 requests a window has room for all three anyhow.
func shortestHold(budget float64) time.Duration {
	c := plan.NewCalendar(budget)
	if c.Allowed() >= 4 {
		return 0
	}
	return c.Window() + c.Window()/2
}

func (f idleFlags) document(u *url.URL, headers []any) map[string]any {
	target := map[string]any{
		"name": "path", "url": u.Scheme + "://" + u.Host, "rate_limit": f.rate, "share": "100%",
		"max_connections": f.open() + 1, "headers": headers, "protocol": f.protocol, "proxy": f.proxy,
		"probes": []any{map[string]any{
			"name": "idle", "kind": "idle", "unused": f.unused, "path": pathOf(u), "holds": []string{f.longest.String()},
			// Whatever it answers: only the connection is looked at.
			"expect": []string{"status < 500 && status != 429"}, "every": (2*f.longest + time.Hour).String(),
		}},
	}
	if f.caFile != "" {
		target["tls"] = map[string]any{"ca_file": f.caFile}
	}
	if f.tcpKeepAlive > 0 {
		target["client"] = map[string]any{"kind": "go-net-http", "tcp_keep_alive": f.tcpKeepAlive.String()}
	}
	settle := map[string]any{"settle": "none"} // it measures now
	return map[string]any{"version": 1, "name": "idle", "targets": []any{target}, "alerts": settle}
}

// open is how many connections are held at once.
func (f idleFlags) open() int {
	if f.unused {
		return 2 * f.connections
	}
	return f.connections
}

// holds are the first round's. They fall from the longest one by a constant
// factor, at most to a third for each further connection: what dies silently lies
// between two of them, where the next round looks. None is
// so short that its warm-up, reuse and control would not fit into the budget.
func (f idleFlags) holds(budget float64) []time.Duration {
	shortest := max(shortestHold(budget), f.longest/81)
	if f.longest <= shortest || f.connections == 1 {
		return []time.Duration{f.longest} // the plan says so if even this does not fit
	}
	steps := float64(f.connections - 1)
	factor := max(1.0/3, math.Pow(float64(shortest)/float64(f.longest), 1/steps))
	var out []time.Duration
	for n := range f.connections {
		h := time.Duration(float64(f.longest) * math.Pow(factor, float64(n)))
		out = append(out, h.Round(time.Millisecond))
	}
	return out
}

func pathOf(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}
