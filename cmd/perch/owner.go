package main

import (
	"fmt"
	"path/filepath"

	"perch.example/config"
	"perch.example/state"
)

// The state remembers whose it is. Two configs on one would undo each other:
// what the one has open, the other one closes, since its probes are not in the
// config.

// otherStateError says that the state is another config's.
type otherStateError struct{ where, owner, name string }

func (e *otherStateError) Error() string {
	return fmt.Sprintf("the state %s is that of the config named %q, and this one is named %q: on one state they would close each other's incidents; "+
		"name another state here (state.file or state.configmap); if the config was renamed, take its state over once with `perch run --adopt-state`",
		e.where, e.owner, e.name)
}

// checkOwner returns an *otherStateError when the state is another config's.
// One without a name is anybody's: a perch of before wrote it.
func checkOwner(sys system, cfg config.Config, d state.Document) error {
	if d.Name == "" || d.Name == cfg.Name {
		return nil
	}
	return &otherStateError{where: whichState(sys, cfg), owner: d.Name, name: cfg.Name}
}

// adopt makes the state this config's, or refuses it.
func (p *pass) adopt() error {
	if err := checkOwner(p.sys, p.cfg, p.doc); err != nil && !p.flags.adopt {
		return usage(err)
	}
	if was := p.doc.Name; was != "" && was != p.cfg.Name {
		p.log.Warn("the state of another config is taken over: its incidents go on here, and those of probes that are not in this config are closed; leave --adopt-state out from now on",
			"state", whichState(p.sys, p.cfg), "was", was, "is", p.cfg.Name)
	}
	p.doc.Name = p.cfg.Name
	return nil
}

// whichState names the config's state so that nobody takes another one for it:
// a path that is written without its folder leads elsewhere from elsewhere.
func whichState(sys system, cfg config.Config) string {
	if cfg.State.ConfigMap == "" {
		path, err := filepath.Abs(cfg.State.File)
		if err != nil { // the working folder is gone
			return cfg.State.File
		}
		return path
	}
	cluster, err := sys.clusterOf(cfg.State.ConfigMap)
	if err != nil { // said where the state is opened
		return "configmap " + cfg.State.ConfigMap
	}
	return "configmap " + cluster.Namespace + "/" + cluster.Name
}
