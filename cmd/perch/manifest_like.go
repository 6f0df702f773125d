package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"perch.example/config"
	"perch.example/k8s"
	"perch.example/k8s/like"
)

// likeFlags ask for an application's network path.
type likeFlags struct {
	file       string
	workload   string
	noServices bool
}

func (f *likeFlags) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "like", "", "`FILE|-`: the application's objects, as kubectl get -o yaml prints them; perch's Pod gets what decides its network path")
	cmd.Flags().StringVar(&f.workload, "workload", "", "with --like, `kind/name` of the application where the objects hold several")
	cmd.Flags().BoolVar(&f.noServices, "like-no-services", false, "with --like, the namespace has no Service, so that none is missing")
}

// path copies the application's path; nil: none was asked for.
func (f *likeFlags) path(stdin io.Reader, cfg config.Config, name string) (*k8s.Path, error) {
	if f.file == "" {
		if f.workload != "" || f.noServices {
			return nil, errors.New("--workload and --like-no-services say how --like reads; want --like FILE with them")
		}
		return nil, nil
	}
	raw, err := f.read(stdin)
	if err != nil {
		return nil, fmt.Errorf("reading --like %s: %w", f.file, err)
	}
	return like.New(raw, like.Options{Name: name, Workload: f.workload, NoServices: f.noServices, Targets: cfg.Targets})
}

func (f *likeFlags) read(stdin io.Reader) ([]byte, error) {
	from := stdin
	if f.file != "-" {
		file, err := os.Open(f.file) // a pipe is welcome: <(kubectl get ...)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		from = file
	}
	return io.ReadAll(io.LimitReader(from, like.MaxInput+1)) // New says that it is too much
}

// likeHead lists what was copied and what was not, for the comment on top of the
// manifest: who reads it later has no stderr.
func likeHead(p *k8s.Path) []string {
	if p == nil {
		return nil
	}
	head := []string{"", "On the network path of " + p.Workload + ". Copied:"}
	for _, r := range p.Copied {
		head = append(head, "  - "+r.What+": "+r.Why)
	}
	if len(p.Left) > 0 {
		head = append(head, "Not copied, or to be known:")
	}
	for _, r := range p.Left {
		head = append(head, "  - "+r.What+": "+r.Why)
	}
	return head
}
