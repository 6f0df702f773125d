package k8s

import (
	"encoding/json"
	"testing"

	"perch.example/config"
)

// shape is a part of a JSON Schema.
type shape = map[string]any

func text(more ...shape) shape { return with(shape{"type": "string"}, more) }

func between(least, most int) shape {
	return shape{"type": "integer", "minimum": least, "maximum": most}
}

func listOf(item shape) shape { return shape{"type": "array", "items": item} }

func object(properties shape) shape {
	return shape{"type": "object", "properties": properties, "additionalProperties": false}
}

// free is what is Kubernetes' own, which the API server checks.
func free(kind string) shape { return shape{"type": kind} }

func oneOf(words ...string) shape { return shape{"enum": words} }

func with(s shape, more []shape) shape {
	for _, m := range more {
		for k, v := range m {
			s[k] = v
		}
	}
	return s
}

// switched is what is on or off, the labels that somebody looks for, and URLs.
func switched(urls ...string) shape {
	has := shape{"enabled": free("boolean"), "labels": words()}
	for _, key := range urls {
		has[key] = webAddress()
	}
	return object(has)
}

// webAddress is one of http or https, or none.
func webAddress() shape { return text(shape{"pattern": `^(https?://\S+)?$`}) }

// words are labels or annotations.
func words() shape {
	return shape{"type": "object", "additionalProperties": text()}
}

// chartSchema is the values' schema; the config's own is part of it, so that `helm
// lint` and `helm install` refuse what perch would.
func chartSchema(t *testing.T) []byte {
	t.Helper()
	raw, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var perch shape
	if err := json.Unmarshal(raw, &perch); err != nil {
		t.Fatal(err)
	}
	delete(perch, "$schema")
	duration := text(shape{"pattern": `^([0-9]+(\.[0-9]+)?(h|m|s))+$`})
	memory := text(shape{"pattern": `^[0-9]+(Ki|Mi|Gi)$`})
	root := object(shape{
		"name": text(shape{"pattern": `^([a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?)?$`}),
		"image": object(shape{
			"repository": text(shape{"pattern": repository}), "tag": text(shape{"pattern": `^([0-9A-Za-z_][0-9A-Za-z_.-]{0,127})?$`}),
			"digest": text(shape{"pattern": `^(sha256:[0-9a-f]{64})?$`}), "pullPolicy": oneOf("", "Always", "IfNotPresent", "Never"),
		}),
		"imagePullSecrets": listOf(free("object")),
		"kind":             oneOf(string(KindCronJob), string(KindDeployment), string(KindIndexedJob)),
		"config":           shape{"if": free("string"), "then": shape{"minLength": 1}, "else": perch},
		"schedule":         text(shape{"minLength": 1}), "deadline": duration, // perch.check says what is wrong with one
		"activeDeadlineSeconds": between(1, 86400), "startingDeadlineSeconds": between(11, 86400),
		"shards": between(2, 1000), "metricsPort": between(1, 65535), "replicas": between(1, mostReplicas),
		"podMonitor": switched(), "serviceMonitor": switched(), "dashboards": switched("docs"),
		"state":     object(shape{"kind": oneOf("configmap", "file", "none"), "size": memory, "storageClassName": text()}),
		"secretEnv": listOf(text(shape{"pattern": `^[A-Za-z_][A-Za-z0-9_]*$`})), "policyConfigMap": text(shape{"minLength": 1}),
		"podLabels": words(), "podAnnotations": words(),
		"serviceAccount": object(shape{"create": free("boolean"), "name": text(), "annotations": words()}),
		"hostNetwork":    free("boolean"), "dnsPolicy": oneOf("", "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
		"dnsConfig": free("object"), "hostAliases": listOf(free("object")), "nodeSelector": words(),
		"tolerations": listOf(free("object")), "affinity": free("object"), "runtimeClassName": text(), "priorityClassName": text(),
		"extraArgs": listOf(text()), "extraEnv": listOf(free("object")), "extraVolumes": listOf(free("object")), "extraVolumeMounts": listOf(free("object")),
		"networkPolicy": object(shape{"enabled": free("boolean"), "ports": listOf(between(1, 65535))}),
		"memory":        memory, "goMemoryLimit": text(shape{"pattern": `^[0-9]+(KiB|MiB|GiB)$`}), "cpuRequest": text(shape{"pattern": `^[0-9.]+m?$`}),
		"rules":  object(shape{"health": switched(), "findings": switched(), "runbooks": webAddress()}),
		"global": free("object"), // Helm's own, for charts that have this one below them
	})
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "values of perch's chart"
	out, err := json.MarshalIndent(root, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}
