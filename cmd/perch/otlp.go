package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"perch.example/config"
	"perch.example/metrics"
	"perch.example/probes"
	"perch.example/trace"
)

// sectionOTLP is the state's section of what grew and could not be sent.
const sectionOTLP = "otlp"

// How much of the state that may take. A ConfigMap holds 1 MiB in all.
const (
	unsentInFile      = 8 << 20
	unsentInConfigMap = 128 << 10
)

// exporting is what of OTLP outlasts a pass.
type exporting struct {
	counts     trace.Counts
	tried      bool        // to send, for the last time: what was not is kept from then on
	kept       atomic.Bool // the document has what was not sent
	tooLarge   bool        // for the state, which was said
	background *background // of perch serve; nil: a run sends before it ends
}

// beginExport counts from the restored values on: what earlier runs counted they have
// sent, but for what the state says.
func (p *pass) beginExport() {
	if p.cfg.OTLP.Endpoint == "" {
		return
	}
	p.otlp = &exporting{}
	if !p.cfg.OTLP.Metrics {
		return
	}
	if err := p.otlp.counts.Restore(p.doc.Sections[sectionOTLP]); err != nil {
		p.problem(probes.PartState, err)
	}
	p.otlp.counts.Start(p.metrics.Families(), p.sys.clock())
}

// export sends the run's spans and what its counters grew, and reports whether all
// went well. perch serve sends later, and says itself what went wrong.
func (p *pass) export(ctx context.Context, run probes.Run) bool {
	switch {
	case p.otlp == nil:
		return true
	case p.otlp.background != nil:
		p.otlp.background.offer(p.exportsFrom(), run)
		return true
	}
	from := p.exportsFrom()
	x, err := from.exporter(ctx, p.log.Warn)
	if err != nil {
		p.problem(probes.PartPush, err)
		p.otlp.tried = true
		return false
	}
	ok := true
	if from.cfg.OTLP.Traces {
		ok = p.exportSpans(ctx, x, from.source().Spans(run))
	}
	if from.cfg.OTLP.Metrics {
		ok = p.exportMetrics(ctx, x, from.metrics) && ok
	}
	return ok
}

func (p *pass) exportSpans(ctx context.Context, x *trace.Exporter, spans trace.Spans) bool {
	ctx, cancel := p.share(ctx)
	defer cancel()
	left, err := x.Spans(ctx, spans)
	if len(left) > 0 {
		err = fmt.Errorf("%w (%s lost: spans are sent by their own run alone)", err, count(len(left), "span is", "spans are"))
	}
	if err != nil {
		p.problem(probes.PartPush, err)
	}
	return err == nil
}

func (p *pass) exportMetrics(ctx context.Context, x *trace.Exporter, m *metrics.Metrics) bool {
	ctx, cancel := p.share(ctx)
	defer cancel()
	p.otlp.tried = true
	err := x.Metrics(ctx, &p.otlp.counts, m.Families(), p.sys.clock())
	if err != nil {
		p.problem(probes.PartPush, err)
	}
	return err == nil
}

// putUnsent writes into the document what grew and was not sent, by this process or by
// those before. While nothing is owed, and no sending is under way, there is nothing:
// should perch be killed then, what grew since the last sending is lost, rather than
// that all of it may be sent twice.
func (p *pass) putUnsent() {
	if p.otlp == nil {
		p.doc.SetSection(sectionOTLP, nil)
		return
	}
	if !p.cfg.OTLP.Metrics || !p.otlp.tried && !p.otlp.counts.Owes() {
		p.otlp.kept.Store(false)
		p.doc.SetSection(sectionOTLP, nil)
		return
	}
	p.otlp.kept.Store(true) // before it is read: who sends it meanwhile has it saved anew
	limit := unsentInFile
	if p.cfg.State.ConfigMap != "" {
		limit = unsentInConfigMap
	}
	raw, err := p.otlp.counts.Unsent(p.metrics.Families(), p.sys.clock(), limit)
	if err != nil && !p.otlp.tooLarge {
		p.log.Warn("the state has no room", "error", err)
	}
	p.otlp.tooLarge = err != nil
	p.doc.SetSection(sectionOTLP, raw)
}

// keptUnsent reports whether the document has what was not sent: once it is sent, that
// must not stand there any more.
func (p *pass) keptUnsent() bool { return p.otlp != nil && p.otlp.kept.Load() }

// exports are what is exported, and where to.
type exports struct {
	sys     system
	cfg     config.Config
	metrics *metrics.Metrics
}

func (p *pass) exportsFrom() exports { return exports{p.sys, p.cfg, p.metrics} }

func (e exports) source() trace.Source {
	v, _ := build()
	return trace.Source{Name: e.cfg.Name, Vantage: e.cfg.Vantage, Shard: e.cfg.Shard.Name(), Version: v, Targets: e.cfg.Targets}
}

// exporter reads secrets and certificates anew.
func (e exports) exporter(ctx context.Context, warn func(string, ...any)) (*trace.Exporter, error) {
	o := e.cfg.OTLP
	header, err := headersOf(o.Headers, config.ReadSecret(e.sys.env, e.sys.readFile))(ctx)
	if err != nil {
		return nil, fmt.Errorf("exporting by OTLP: reading the headers: %w", err)
	}
	transport, err := e.transport()
	if err != nil {
		return nil, fmt.Errorf("exporting by OTLP: %w", err)
	}
	return trace.New(trace.Options{
		Endpoint: o.Endpoint, Header: header, Client: &http.Client{Transport: transport}, Timeout: o.Timeout,
		Histograms: trace.Histograms(o.Histograms), Source: e.source(), Warn: func(text string) { warn("OTLP", "receiver", text) },
	})
}

// transport is the default one with the config's certificates; nil: the default one.
func (e exports) transport() (http.RoundTripper, error) {
	o := e.cfg.OTLP
	if e.sys.web != nil || o.CAFile == "" && o.CertFile == "" {
		return e.sys.web, nil
	}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 10 * time.Second, DisableKeepAlives: true, // made anew each time
	}
	if o.CAFile != "" {
		pem, err := e.sys.readFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("reading otlp.ca_file: %w", err)
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("reading otlp.ca_file %q: no PEM certificate inside", o.CAFile)
		}
	}
	if o.CertFile == "" {
		return t, nil
	}
	cert, err := e.sys.readFile(o.CertFile)
	key, keyErr := e.sys.readFile(o.KeyFile)
	if err := errors.Join(err, keyErr); err != nil {
		return nil, fmt.Errorf("reading otlp's certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("loading otlp.cert_file %q: %w", o.CertFile, err)
	}
	t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	return t, nil
}
