package grafana

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ofOneKind are the alerts that only one kind of perch can have, by what their
// runbook then says in its second line.
func ofOneKind(alert string) (kind, said string) {
	switch alert {
	case "PerchNoCompletedRun", "PerchJobsFailing", "PerchPushTrouble":
		return "CronJob", "CronJob, by"
	case "PerchScrapeFailing", "PerchServeStalled", "PerchGone", "PerchConfigReloadFailed":
		return "Deployment", "`perch serve`, by"
	}
	return "", ""
}

// TestRunbooksAreOfBothKinds: who runs `perch serve` has no Job, and who has a
// CronJob no Pod between two runs. So what is to be done stands there for both,
// unless the alert is of one kind.
func TestRunbooksAreOfBothKinds(t *testing.T) {
	for _, r := range alertRules(RuleOptions{}) {
		raw, err := os.ReadFile(filepath.Join("../docs/runbooks", r.Alert+".md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range oneSided(r.Alert, string(raw)) {
			t.Errorf("%s: %s", r.Alert, wrong)
		}
	}
}

// TestOneSidedRunbooksAreFound, or the test above would prove nothing.
func TestOneSidedRunbooksAreFound(t *testing.T) {
	page := "# A\n**ticket** · by `perch`\n\n## Check now\n```sh\n%s\n```\n\n## Causes and what to do\n"
	for commands, want := range map[string]string{
		"kubectl logs job/JOB":            "says nothing of a Deployment",
		"kubectl exec deploy/perch -- /x": "says nothing of a CronJob",
		"perch idle https://API/ping":     "measures the path of whoever reads it",
		"kubectl create job x --from=cronjob/perch | kubectl patch # \"--only=A/B\"\nkubectl logs deploy/perch": "does not run what is not due",
	} {
		got := oneSided("PerchDelayed", strings.Replace(page, "%s", commands, 1))
		if len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s: %q, want one that %s", commands, got, want)
		}
	}
	if got := oneSided("PerchGone", strings.Replace(page, "%s", "kubectl logs deploy/perch", 1)); len(got) != 1 {
		t.Errorf("a runbook that does not say that it is of `perch serve`: %q", got)
	}
}

// oneSided says what a runbook lacks for who runs perch in the other way.
func oneSided(alert, page string) (wrong []string) {
	_, check, _ := strings.Cut(page, "\n## Check now\n")
	check, _, _ = strings.Cut(check, "\n## Causes and what to do\n")
	cronJob := regexp.MustCompile(`\bjob/|cronjob`).MatchString(check)
	deployment := strings.Contains(check, "deploy")
	switch kind, said := ofOneKind(alert); {
	case kind != "":
		if second := strings.Split(page, "\n")[1]; !strings.Contains(second, said) {
			wrong = append(wrong, "is of a "+kind+" alone, and does not say so: "+second)
		}
	case cronJob && !deployment:
		wrong = append(wrong, "says nothing of a Deployment")
	case deployment && !cronJob:
		wrong = append(wrong, "says nothing of a CronJob")
	}
	// plan, audit and what else sends nothing may be run anywhere.
	if m := regexp.MustCompile(`(?m)^perch (idle|path|run|alert)\b.*`).FindString(check); m != "" {
		wrong = append(wrong, "measures the path of whoever reads it: "+m)
	}
	if strings.Contains(check, `"--only=`) && !strings.Contains(check, `"--all"`) {
		wrong = append(wrong, "does not run what is not due: --only without --all")
	}
	return wrong
}
