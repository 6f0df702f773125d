package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/probes"
)

// The destinations' names: in the outbox, in metrics, for alert test --only.
const (
	toSlack        = "slack"
	toWebhook      = "webhook"
	toAlertmanager = "alertmanager"
)

// destinations are where notices of a config go, in the order in which they
// are told.
func destinations(cfg config.Config) []string {
	var names []string
	if !cfg.Slack.Webhook.Zero() || !cfg.Slack.BotToken.Zero() {
		names = append(names, toSlack)
	}
	if cfg.Webhook.URL != "" || !cfg.Webhook.From.Zero() {
		names = append(names, toWebhook)
	}
	if cfg.Alertmanager.URL != "" {
		names = append(names, toAlertmanager)
	}
	return names
}

// secretsOf are where the secrets of one destination are read from.
func secretsOf(name string, cfg config.Config) []probes.Source {
	var all []probes.Source
	var headers []probes.Field
	switch name {
	case toSlack:
		if all = append(all, cfg.Slack.BotToken); cfg.Slack.BotToken.Zero() {
			all = []probes.Source{cfg.Slack.Webhook}
		}
	case toWebhook:
		all, headers = append(all, cfg.Webhook.From), cfg.Webhook.Headers
	case toAlertmanager:
		headers = cfg.Alertmanager.Headers
	}
	for _, f := range headers {
		all = append(all, f.From)
	}
	return slices.DeleteFunc(all, probes.Source.Zero)
}

// senders reads the secrets of the config's destinations anew, and returns
// those that can be sent to. The others are the error's, one each.
func senders(sys system, cfg config.Config) ([]alert.Destination, []error) {
	read := config.ReadSecret(sys.env, sys.readFile)
	client := &http.Client{Transport: sys.web}
	var to []alert.Destination
	var problems []error
	for _, name := range destinations(cfg) {
		sender, err := senderTo(name, cfg, read, client)
		if err != nil {
			problems = append(problems, fmt.Errorf("sending to %s: %w", name, err))
			continue
		}
		to = append(to, alert.Destination{Name: name, Sender: sender})
	}
	return to, problems
}

func senderTo(name string, cfg config.Config, read probes.ReadSecret, client *http.Client) (alert.Sender, error) {
	switch name {
	case toWebhook:
		address, err := webhookAddress(cfg.Webhook, read)
		if err != nil {
			return nil, err
		}
		return alert.NewWebhook(address, headersOf(cfg.Webhook.Headers, read), client), nil
	case toAlertmanager:
		return alert.NewAlertmanager(probes.NewSecret(cfg.Alertmanager.URL), headersOf(cfg.Alertmanager.Headers, read), client), nil
	}
	if !cfg.Slack.BotToken.Zero() {
		token, err := read(cfg.Slack.BotToken)
		if err != nil {
			return nil, err
		}
		return alert.NewSlackBot(token, cfg.Slack.Channel, client), nil
	}
	url, err := read(cfg.Slack.Webhook)
	if err != nil {
		return nil, err
	}
	return alert.NewSlack(url, client), nil
}

func webhookAddress(w config.Webhook, read probes.ReadSecret) (probes.Secret, error) {
	if w.From.Zero() {
		return probes.NewSecret(w.URL), nil
	}
	return read(w.From)
}

// headersOf puts a destination's headers together, anew for each request.
func headersOf(fields []probes.Field, read probes.ReadSecret) alert.Headers {
	return func(context.Context) (http.Header, error) {
		headers := http.Header{}
		for _, f := range fields {
			value := f.Value
			if !f.From.Zero() {
				secret, err := read(f.From)
				if err != nil {
					return nil, err
				}
				value = secret.Reveal()
			}
			headers.Add(f.Name, f.Prefix+value)
		}
		return headers, nil
	}
}
