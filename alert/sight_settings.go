package alert

import (
	"fmt"
	"slices"
	"strings"

	"perch.example/probes"
)

// settingsChange says what the client's owner declares otherwise than before;
// empty: nothing. Of a memory that kept no settings nothing can be said.
func settingsChange(then, now []probes.Setting) string {
	if len(then) == 0 {
		return ""
	}
	var changes []string
	for _, name := range settingNames(then, now) {
		before, after := settingOf(then, name), settingOf(now, name)
		if before != after {
			changes = append(changes, changeWords(name, before, after))
		}
	}
	return strings.Join(changes, "; ")
}

// settingNames returns the names of both, in the order in which they are
// declared.
func settingNames(then, now []probes.Setting) []string {
	var names []string
	for _, s := range slices.Concat(now, then) {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

func settingOf(all []probes.Setting, name string) string {
	for _, s := range all {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// changeWords say a change; of a list, what came and what went, since lists of
// errors are long.
func changeWords(name, before, after string) string {
	came, went := without(after, before), without(before, after)
	switch {
	case name != "retry.errors" && name != "retry.methods":
		return fmt.Sprintf("its declared %s is %s now, before: %s", name, byDefault(after), byDefault(before))
	case came != "" && went != "":
		return fmt.Sprintf("its declared %s now hold %s, and no longer %s", name, came, went)
	case came != "":
		return fmt.Sprintf("its declared %s now hold %s", name, came)
	case went != "":
		return fmt.Sprintf("its declared %s no longer hold %s", name, went)
	}
	return fmt.Sprintf("its declared %s are in another order", name)
}

// without returns the entries of a list that another does not hold.
func without(list, other string) string {
	var left []string
	others := strings.Split(other, ", ")
	for _, entry := range strings.Split(list, ", ") {
		if !slices.Contains(others, entry) {
			left = append(left, entry)
		}
	}
	return strings.Join(left, ", ")
}

func byDefault(value string) string {
	if value == "" {
		return "the client's default"
	}
	return value
}
