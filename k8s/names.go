package k8s

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// longestName leaves room for what a CronJob puts behind its name: 11 signs of the
// 63 that a Job's may have.
const longestName = validation.DNS1123LabelMaxLength - 11

// repository is what the kubelet takes as the name of images: a registry with a
// port, a path in small letters. imageName may have a tag and a digest behind it.
const (
	repository = "^" + repositoryName + "$"
	imageName  = "^" + repositoryName + `(:[0-9A-Za-z_][0-9A-Za-z_.-]{0,127})?(@[a-z0-9+._-]+:[0-9a-f]{32,128})?$`

	repositoryName = `((\[[0-9a-fA-F:]+\]|[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?)(:[0-9]{1,5})?/)?` +
		`[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*(/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*`
)

// defaults fills in what the options leave open.
func (b *maker) defaults() {
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	set(&b.o.Name, "perch")
	set(&b.o.Image, "perch")
	set(&b.o.Policy, "perch-policy")
	if b.o.Kind == "" {
		b.o.Kind = KindCronJob
	}
	if p := b.o.Path; p != nil {
		set(&b.o.Namespace, p.Namespace)
	}
}

// check refuses what the objects could not be made of.
func (b *maker) check() {
	b.checkKind()
	b.checkNames()
	b.checkVantage()
	b.checkMonitor()
	b.readFiles()
	b.readCalls()
}

func (b *maker) checkKind() {
	kinds := []Kind{KindCronJob, KindDeployment, KindIndexedJob}
	switch {
	case !slices.Contains(kinds, b.o.Kind):
		b.refuse("--kind %q: want cronjob, deployment or indexed-job", b.o.Kind)
	case b.o.Kind != KindIndexedJob && b.o.Shards != 0:
		b.refuse("--shards %d: only --kind indexed-job is split into shards, this is %s", b.o.Shards, b.o.Kind)
	case b.o.Kind == KindIndexedJob && len(b.cfg.Targets) < 2:
		b.refuse("--kind indexed-job: a target is in one shard, whole, and there is one target; want --kind cronjob or deployment")
	case b.o.Kind == KindIndexedJob && b.o.Shards == 0:
		b.refuse("--kind indexed-job: how many shards? want --shards N, from 2 to the %d targets", len(b.cfg.Targets))
	case b.o.Kind == KindIndexedJob && (b.o.Shards < 2 || b.o.Shards > len(b.cfg.Targets)):
		b.refuse("--shards %d: a target is in one shard, whole, and there are %d; want 2 to %d, or --kind cronjob",
			b.o.Shards, len(b.cfg.Targets), len(b.cfg.Targets))
	}
	b.checkReplicas()
	if b.o.Kind == KindDeployment && b.o.Schedule != "" {
		b.refuse("--schedule %q: a deployment has none, each probe runs on its own every", b.o.Schedule)
	}
}

func (b *maker) checkNames() {
	b.label("--name", b.o.Name)
	if most := b.longestName(); len(b.o.Name) > most {
		b.refuse("--name %q: %d signs, want at most %d: Kubernetes puts a Job's number behind it", b.o.Name, len(b.o.Name), most)
	}
	if b.o.Namespace != "" {
		b.label("--namespace", b.o.Namespace)
	}
	if p := b.o.Path; p != nil && p.Namespace != "" && p.Namespace != b.o.Namespace {
		b.refuse("--namespace %s: %s is in the namespace %s, and policies and the path are those of a namespace; leave --namespace out",
			b.o.Namespace, p.Workload, p.Namespace)
	}
	if !regexp.MustCompile(imageName).MatchString(b.o.Image) {
		b.refuse("--image %q: want a name such as registry.example/tools/perch:0.1.0, without https://", b.o.Image)
	}
	if wrong := validation.IsDNS1123Subdomain(b.o.Policy); len(wrong) > 0 {
		b.refuse("the policy's ConfigMap %q: %s", b.o.Policy, wrong[0])
	}
	if b.o.Name == b.o.Policy {
		b.refuse("--name %s: the config's ConfigMap would take the place of the platform's policy, which is called so; want another name", b.o.Name)
	}
	state := b.cfg.State.ConfigMap
	b.checkStateName(state)
	if state == b.o.Policy {
		b.refuse("state.configmap %s: the platform's policy is in this ConfigMap, and perch would have the right to change it; want another, such as %s", state, b.stateName())
	}
	if b.o.Kind != KindIndexedJob || b.o.Shards < 1 { // how many there are may be refused
		return
	}
	if last := len(b.shardObject(b.o.Shards - 1)); state != "" && last > validation.DNS1123SubdomainMaxLength {
		b.refuse("state.configmap %s: a shard's name is %d signs long, want %d at most", state, last, validation.DNS1123SubdomainMaxLength)
	}
}

// checkStateName refuses the name of the config's own ConfigMap, and that of
// another perch's state: a config that was copied with its state would let two
// perches wait for each other and close each other's incidents.
func (b *maker) checkStateName(state string) {
	other, named := strings.CutSuffix(state, "-state")
	switch {
	case state == b.o.Name:
		b.refuse("state.configmap %s: the config's own ConfigMap has this name; want another, such as %s", state, b.stateName())
	case named && state != b.stateName():
		b.refuse("state.configmap %s: that is the state of a perch called %s, and these objects are called %s: want state: {configmap: %s}, or --name %s", state, other, b.o.Name, b.stateName(), other)
	}
}

// longestName is how long the objects' name may be. A Pod of an Indexed Job has
// its index behind the Job's name, and that is a host name.
func (b *maker) longestName() int {
	if b.o.Kind != KindIndexedJob {
		return longestName
	}
	return longestName - len("-"+strconv.Itoa(b.o.Shards))
}

func (b *maker) label(what, name string) {
	if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
		b.refuse("%s %q: %s", what, name, wrong[0])
	}
}

// checkVantage refuses a config whose vantage only an environment knows that this
// is not, and one that perch serve would refuse: each Pod would end with status 2.
func (b *maker) checkVantage() {
	var needs []string
	for what, uses := range map[string]bool{
		"metrics.push": b.cfg.Metrics.PushURL != "", "metrics.textfile": b.cfg.Metrics.Textfile != "", "state": b.cfg.State.Kept(), "otlp": b.cfg.OTLP.Endpoint != "",
		"perch serve": b.o.Kind == KindDeployment,
	} {
		if uses {
			needs = append(needs, what)
		}
	}
	slices.Sort(needs)
	by := strings.Join(needs, " and ")
	if b.cfg.Vantage == "" && by != "" {
		b.refuse("the config names no vantage, which %s needs: write vantage: at its top, or run PERCH_VANTAGE=... perch manifest, which puts it into the Pod", by)
	}
	if b.cfg.Name == "" && by != "" {
		b.refuse("the config has no name, which %s needs: write name: at its top", by)
	}
}

// in is the flag for kubectl commands in notes.
func (b *maker) in() string {
	if b.o.Namespace == "" {
		return ""
	}
	return fmt.Sprintf(" -n %s", b.o.Namespace)
}
