package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"perch.example/config"
	"perch.example/k8s"
	"perch.example/plan"
)

// manifestFlags are what perch manifest is asked for.
type manifestFlags struct {
	config     string
	kind       string
	podMonitor bool
	like       likeFlags
	options    k8s.Options
}

func (f *manifestFlags) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "config", "perch.yaml", "config `FILE|DIR`")
	cmd.Flags().StringVar(&f.kind, "kind", string(k8s.KindCronJob), "cronjob, deployment (perch serve) or indexed-job (a CronJob in shards)")
	cmd.Flags().StringVar(&f.options.Image, "image", "", "perch's image (default perch:VERSION)")
	cmd.Flags().StringVar(&f.options.Name, "name", "perch", "`name` of the objects")
	cmd.Flags().StringVar(&f.options.Namespace, "namespace", "", "their namespace (default: that which kubectl applies them to)")
	cmd.Flags().IntVar(&f.options.Shards, "shards", 0, "how many Pods share the targets (indexed-job)")
	cmd.Flags().IntVar(&f.options.Replicas, "replicas", 1, "how many Pods (deployment): one probes, the others stand by, by the Lease of state.configmap")
	cmd.Flags().StringVar(&f.options.Schedule, "schedule", "", "an interval such as 15m, or cron's five fields (default: the shortest every, or 10m)")
	f.like.bind(cmd)
	cmd.Flags().StringSliceVar(&f.options.APIServer, "api-server", nil, "`ADDRESS|CIDR`, repeatable: the NetworkPolicy opens the API server's ports to these alone (default: to any address)")
	cmd.Flags().BoolVar(&f.podMonitor, "pod-monitor", true, "with a deployment, a PodMonitor for the Prometheus Operator")
	cmd.Flags().StringToStringVar(&f.options.MonitorLabels, "monitor-label", nil, "`KEY=VALUE`, repeatable: a label of the PodMonitor, by which an operator takes it")
}

func newManifest(sys system) *cobra.Command {
	var flags manifestFlags
	cmd := &cobra.Command{
		Use: "manifest", Short: "Print Kubernetes YAML for a config", Args: noArgs,
		Long: `Prints what runs a config in Kubernetes, as YAML for kubectl, and asks no network:

  perch manifest --config perch.yaml --namespace shop --image registry.example/tools/perch:0.1.0 | kubectl apply -f -

The config's files go into a ConfigMap as they are. Of a secret only its name is used: the Secret is yours to make.

On an application's own network path, from what decides it:

  kubectl get -n shop deploy,svc,netpol,pdb,hpa,sa,po -o yaml | perch manifest --like - --workload deploy/checkout

What has to be known or done stands on stderr. Run it again when the config changes.`,
	}
	flags.bind(cmd)
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		// PERCH_NAME is the config's name in a Pod, and not that of the objects.
		return fromEnv(cmd.Flags(), func(name string) (string, bool) {
			if name == "PERCH_NAME" {
				return "", false
			}
			return sys.env(name)
		})
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		log, err := logger(cmd, sys)
		if err != nil {
			return usage(err)
		}
		made, err := manifestOf(sys, flags, cmd.InOrStdin(), log)
		if err != nil {
			return usage(err)
		}
		for _, note := range made.Notes {
			fmt.Fprintf(sys.stderr, "note: %s\n", note)
		}
		if err := made.Write(sys.stdout); err != nil {
			return own(err)
		}
		return nil
	}
	return cmd
}

// manifestOf makes the manifest that the flags ask for.
func manifestOf(sys system, flags manifestFlags, stdin io.Reader, log *slog.Logger) (*k8s.Manifest, error) {
	cfg, err := loadForAll(sys, flags.config, log)
	if err != nil {
		return nil, err
	}
	o := flags.options
	if o.Files, err = config.Files(flags.config); err != nil {
		return nil, err
	}
	if o.Calls, err = callFiles(cfg); err != nil {
		return nil, err
	}
	if err := checkSeries(cfg); err != nil {
		return nil, err
	}
	planned := cfg
	if flags.kind == string(k8s.KindDeployment) {
		planned = served(cfg)
	}
	p, err := plan.New(planned, plan.Options{Seed: 1}) // the seed moves starts by seconds
	if err != nil {
		return nil, err
	}
	p.Series = series(cfg)
	if o.Path, err = flags.like.path(stdin, cfg, o.Name); err != nil {
		return nil, err
	}
	o.Kind, o.NoPodMonitor = k8s.Kind(flags.kind), !flags.podMonitor
	o.PerchName, _ = sys.env("PERCH_NAME")
	o.Vantage, _ = sys.env("PERCH_VANTAGE")
	v, _ := build()
	if o.Image == "" {
		o.Image = "perch:" + imageTag(v)
	}
	made, err := k8s.New(cfg, p, o)
	if err != nil {
		return nil, err
	}
	if flags.options.Image == "" {
		made.Notes = append(made.Notes, fmt.Sprintf("the image is %s: name the one in your registry with --image", o.Image))
	}
	made.Head = append([]string{"Made by perch " + v + ", to be made again when the config changes:", "  perch " + shellLine(sys.args)}, likeHead(o.Path)...)
	return made, nil
}

// imageTag is a version as an image's tag may be: Go's own may have a + in it.
func imageTag(version string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, version)
}

// shellLine writes arguments so that a shell reads them again.
func shellLine(args []string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:@,%+"
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = a
		if a == "" || strings.Trim(a, plain) != "" {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
