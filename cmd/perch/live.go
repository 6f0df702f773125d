package main

import (
	"time"

	"perch.example/probes"
	"perch.example/report"
)

// liveView shows on a terminal what is held; elsewhere it does nothing.
type liveView struct {
	view *report.Live
	quit chan struct{}
	done chan struct{}
}

func (p *pass) live() *liveView {
	if _, ok := terminal(p.sys.stdout); !ok || !p.out.shows() {
		return &liveView{}
	}
	l := &liveView{view: report.NewLive(p.sys.stdout, p.sys.style()), quit: make(chan struct{}), done: make(chan struct{})}
	go l.tick()
	return l
}

func (l *liveView) tick() {
	defer close(l.done)
	t := time.NewTicker(200 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case now := <-t.C:
			l.view.Tick(now)
		case <-l.quit:
			return
		}
	}
}

func (l *liveView) watch(e probes.Event) {
	if l.view != nil {
		l.view.Event(e)
	}
}

func (l *liveView) stop() {
	if l.view == nil {
		return
	}
	close(l.quit)
	<-l.done
	l.view.Stop()
}
