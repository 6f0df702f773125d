package config

import (
	"time"

	"perch.example/probes"
)

func alerts() value {
	const day = 24 * time.Hour
	return mappingOf(
		field{key: "mode", doc: "report: decide and record, send nothing.", value: word("notify", "report"), builtin: "notify"},
		field{key: "fire_after", doc: "Failed runs, of the last fire_after+1, that open an incident.", value: count(1, 100), builtin: 2},
		field{key: "resolve_after", doc: "Good runs in a row that end it.", value: count(1, 100), builtin: 2},
		field{key: "remind_every", doc: "While an incident is open; 4h where no connection can be made.", builtin: "24h",
			value: durationOr(time.Minute, 30*day, map[string]any{"never": time.Duration(0)}, asDuration)},
		field{key: "settle", doc: "How long after the start of a run a connection that cannot be opened (DNS, connect) is tried again, uncounted: a new pod's network takes its time.", builtin: "10s",
			value: durationOr(100*time.Millisecond, 5*time.Minute, map[string]any{"none": time.Duration(0)}, asDuration)},
		field{key: "silences", doc: "Mute notices for a time; probing and resolving go on.", value: listOf(silence(), 0, 200)},
	)
}

func silence() value {
	return mappingOf(
		field{key: "match", doc: "What is muted.", value: matchPattern(), required: true},
		field{key: "from", doc: "When it begins; left out: at once.", value: instant(startOfDay)},
		field{key: "until", doc: "When it ends; a day counts to its end, in UTC.", value: instant(endOfDay), required: true},
		field{key: "reason", doc: "Why, for those who wonder.", value: filled(text("a reason")), required: true},
	).withRules(silenceRules).like("{match: stock-api/*, until: 2027-01-01T03:00:00Z, reason: ...}")
}

// accepted is a finding that is known and lived with.
func accepted() value {
	return mappingOf(
		field{key: "diagnosis", doc: "Which one.", value: diagnosis(), required: true},
		field{key: "idle", doc: "The idle ages at which it is accepted, both ends included; left out: at any.", value: idleRange()},
		field{key: "until", doc: "When that ends; a day counts to its end, in UTC.", value: instant(endOfDay), required: true},
		field{key: "reason", doc: "Why, and what will come of it.", value: filled(text("a reason")), required: true},
	).withRules(acceptedRules).like("{diagnosis: early_close, idle: 55s..65s, until: 2027-03-31, reason: ...}")
}

// diagnosis is one that can be a fail: the others never fire.
func diagnosis() value {
	var can, never []string
	for _, d := range probes.Diagnoses() {
		if d.CanFail() {
			can = append(can, string(d))
		} else {
			never = append(never, string(d))
		}
	}
	return refusing(word(can...), "never fires, so that there is nothing to accept", "leave it out", never...)
}

func slack() value {
	return mappingOf(
		field{key: "webhook", doc: "The incoming webhook's URL, which is a secret. Each notice is a message of its own.", value: secretFrom("the URL")},
		field{key: "bot_token", doc: "A bot's token, in place of webhook: an incident is one thread with pictures.", value: secretFrom("the token")},
		field{key: "channel", doc: "Where notices go with bot_token, in quotes: YAML takes # for a comment.", value: channel()},
		field{key: "dashboard_url", doc: "Linked from each notice.", value: webURL(true)},
	).withSchema(map[string]any{
		"not":               map[string]any{"required": []string{"webhook", "bot_token"}},
		"dependentRequired": map[string]any{"channel": []string{"bot_token"}},
	})
}

// secretFrom is a secret that stands nowhere but in its source.
func secretFrom(what string) value {
	return private(mappingOf(
		field{key: "from", doc: "Where the secret is read.", value: source(), required: true},
	).like("{from: {env: NAME}} or {from: {file: PATH}}: " + what + " is a secret"))
}

func webhook() value {
	return mappingOf(
		field{key: "url", doc: "Where it goes; empty: nowhere.", value: private(webURL(true))},
		field{key: "from", doc: "Where the URL is read, if it is a secret.", value: source()},
		field{key: "headers", doc: "Sent with each notice.", value: listOf(header(), 0, 100)},
	).withRules(webhookRules).withSchema(merged(oneOfTwo("url", "from"), notWithout("headers", "url", "from"))).like("{url: https://...} or {from: {env: NAME}}")
}

func alertmanager() value {
	return mappingOf(
		field{key: "url", doc: "Its URL, without /api/v2/alerts; empty: nowhere.", value: private(webURL(true))},
		field{key: "headers", doc: "Sent with each request.", value: listOf(header(), 0, 100)},
	).withRules(alertmanagerRules).withSchema(notWithout("headers", "url")).like("{url: http://alertmanager:9093}")
}
