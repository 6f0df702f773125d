package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"perch.example/probes"
)

// How a word of Slack's is classified.
const (
	isAccess = "access" // a clear refusal of the app: nothing passes until somebody acts
	isPlace  = "place"
	isText   = "content"
	isGone   = "gone"
	isLater  = "limited"
	isUnsure = "ambiguous"
)

// wordOf is a class, and what is said.
type wordOf struct{ class, says string }

func wordsOfSlack() map[string]wordOf {
	return map[string]wordOf{
		"not_in_channel":                           {isPlace, "/invite @perch (the app's name) in #stock"},
		"channel_not_found":                        {isPlace, "there is no #stock"},
		"is_archived":                              {isPlace, "archived"},
		"channel_is_archived":                      {isPlace, "archived"},
		"is_inactive":                              {isPlace, "archived"},
		"restricted_action":                        {isPlace, "admins"},
		"restricted_action_read_only_channel":      {isPlace, "admins"},
		"restricted_action_thread_only_channel":    {isPlace, "admins"},
		"restricted_action_non_threadable_channel": {isPlace, "admins"},
		"channel_type_not_supported":               {isPlace, "no channel that an app can post to"},
		"slack_connect_file_link_sharing_blocked":  {isPlace, "another organization"},
		"invalid_auth":                             {isAccess, "xoxb-"},
		"not_authed":                               {isAccess, "xoxb-"},
		"account_inactive":                         {isAccess, "install it again"},
		"token_revoked":                            {isAccess, "the token was revoked"},
		"token_expired":                            {isAccess, "expired"},
		"missing_scope":                            {isAccess, "needed: chat:write, the token has: files:write, users:read; add the scope"},
		"not_allowed_token_type":                   {isAccess, "bot token"},
		"no_permission":                            {isAccess, "chat:write"},
		"access_denied":                            {isAccess, "chat:write"},
		"accesslimited":                            {isAccess, "admins"},
		"team_access_not_granted":                  {isAccess, "admins"},
		"org_login_required":                       {isAccess, "admins"},
		"enterprise_is_restricted":                 {isAccess, "admins"},
		"two_factor_setup_required":                {isAccess, "admins"},
		"ekm_access_denied":                        {isAccess, "suspended posting"},
		"team_added_to_org":                        {isAccess, "install the app again"},
		"file_uploads_disabled":                    {isAccess, "without pictures"},
		"some_word_of_tomorrow":                    {isAccess, "Slack's reference"},
		"invalid_blocks":                           {isText, "must be less than 3001 characters"},
		"invalid_blocks_format":                    {isText, "in the report"},
		"msg_blocks_too_long":                      {isText, "in the report"},
		"msg_too_long":                             {isText, "in the report"},
		"no_text":                                  {isText, "in the report"},
		"invalid_arguments":                        {isText, "in the report"},
		"too_many_attachments":                     {isText, "in the report"},
		"message_not_found":                        {isGone, "deleted"},
		"thread_not_found":                         {isGone, "deleted"},
		"edit_window_closed":                       {isAccess, "for a short time only"},
		"cant_update_message":                      {isAccess, "another app"},
		"ratelimited":                              {isLater, "asks to wait 1 s"},
		"rate_limited":                             {isLater, "asks to wait 1 s"},
		"internal_error":                           {isUnsure, "may have been delivered"},
		"fatal_error":                              {isUnsure, "may have been delivered"},
		"service_unavailable":                      {isUnsure, "may have been delivered"},
		"request_timeout":                          {isUnsure, "may have been delivered"},
	}
}

// TestEveryWordOfSlack: each is classified, and says what to do.
func TestEveryWordOfSlack(t *testing.T) {
	for word, tt := range wordsOfSlack() {
		t.Run(word, func(t *testing.T) {
			failure := afterWord(t, word)
			class := isAccess
			for name, is := range map[string]bool{
				isPlace: failure.Place, isText: failure.Content, isGone: failure.gone, isLater: failure.RetryAfter > 0, isUnsure: failure.Ambiguous,
			} {
				if is && class != isAccess {
					t.Errorf("it is %s and %s", class, name)
				}
				if is {
					class = name
				}
			}
			if says := failure.Error(); class != tt.class || !strings.Contains(says, tt.says) || !strings.Contains(says, "Slack: chat.postMessage: "+word) {
				t.Errorf("%s: %q, want %s: %q", class, says, tt.class, tt.says)
			}
		})
	}
}

// afterWord is the failure of a post to which Slack answers with a word.
func afterWord(t *testing.T, word string) (failure *SendError) {
	t.Helper()
	body := map[string]any{"ok": false, "error": word}
	switch word {
	case "missing_scope":
		body["needed"], body["provided"] = "chat:write", "users:read,files:write"
	case "invalid_blocks":
		body["response_metadata"] = map[string]any{"messages": []string{"[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]"}}
	}
	content, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) { return canned(200, string(content), nil), nil })}
	synctest.Test(t, func(t *testing.T) { // what asks for patience gets it
		_, failure = NewSlackBot(probes.NewSecret(botToken), "#alerts", client).post(t.Context(), "#stock", Notice{Title: "a"})
	})
	if failure == nil {
		t.Fatal("it was delivered")
	}
	return failure
}

// TestAnswersThatAreNotSlacks: what cannot be read may hide a delivery.
func TestAnswersThatAreNotSlacks(t *testing.T) {
	tests := []struct {
		name      string
		status    int
		body      string
		ambiguous bool
		says      string
	}{
		{"a page", 200, "<html>please log in", true, "not Slack"},
		{"nothing", 200, "", true, "not Slack"},
		{"half an answer", 200, `{"ok":true,"chan`, true, "not Slack"},
		{"no word", 200, `{"ok":false}`, true, "not Slack"},
		{"a list", 200, `[]`, true, "not Slack"},
		{"yes with another status", 202, `{"ok":true}`, true, "not Slack"},
		{"yes, and nothing else", 200, `{"ok":true}`, true, "not Slack"},
		{"a redirect", 302, "", false, "not Slack"},
		{"a proxy's", 407, "proxy authentication required", false, "407"},
		{"broken", 500, "<html>", true, "may have been delivered"},
		{"broken, with a word", 503, `{"ok":false,"error":"service_unavailable"}`, true, "service_unavailable"},
		{"refused, with a status", 403, `{"ok":false,"error":"invalid_auth"}`, false, "xoxb-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client := &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
				return canned(tt.status, tt.body, http.Header{"Location": {"https://elsewhere.example/"}}), nil
			})}
			_, err := NewSlackBot(probes.NewSecret(botToken), "#alerts", client).Send(t.Context(), Notice{ID: "1", Title: "a"}, Receipt{})
			var failure *SendError
			if !errors.As(err, &failure) || failure.Ambiguous != tt.ambiguous || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("sent: %v, want %q, ambiguous: %v", err, tt.says, tt.ambiguous)
			}
		})
	}
}

// leaky is a transport that says what it got in its own words: as an answer,
// or as an error.
func leaky(asError bool) transport {
	return func(r *http.Request) (*http.Response, error) {
		var body bytes.Buffer
		if r.Body != nil {
			if _, err := body.ReadFrom(r.Body); err != nil {
				return nil, err
			}
		}
		form, _ := url.ParseQuery(body.String()) // what is no form has no token
		text := fmt.Sprintf("%s %s %v %s", r.URL, r.URL.Path, r.Header, form.Get("token"))
		if asError {
			return nil, &url.Error{Op: "Post", URL: r.URL.String(), Err: errors.New(text)}
		}
		word, err := json.Marshal(map[string]any{"ok": false, "error": text, "response_metadata": map[string]any{"messages": []string{text}}, "needed": text})
		if err != nil {
			return nil, err
		}
		return canned(400, string(word), nil), nil
	}
}

// shown is everything that can be printed of a value.
func shown(t *testing.T, values ...any) string {
	t.Helper()
	var b bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for _, v := range values {
		fmt.Fprintf(&b, "%v %+v %#v %s %q %x %d %T", v, v, v, v, v, v, v, v)
		logger.Info("it", "value", v)
		content, err := json.Marshal(v)
		fmt.Fprint(&b, string(content), err)
		if err, ok := v.(error); ok {
			for e := err; e != nil; e = errors.Unwrap(e) {
				fmt.Fprintf(&b, "%v %+v %#v %q %x", e, e, e, e, e)
			}
		}
	}
	return b.String()
}

// TestNoSenderLeaks: no token, no address's path and no header's value is in
// an error, in what is kept, or in a print of anything that holds them.
func TestNoSenderLeaks(t *testing.T) {
	secrets := []string{"hunter2hunter2", "pAssw0rd-secret", "xSecretTokenX", "qUerySecret99", "hEaderSecret77"}
	address := probes.NewSecret("https://user:pAssw0rd-secret@hooks.example/in/xSecretTokenX0123456789?key=qUerySecret99")
	headers := func(context.Context) (http.Header, error) {
		return http.Header{"Authorization": {"Bearer hEaderSecret77"}}, nil
	}
	failing := func(context.Context) (http.Header, error) {
		return http.Header{"X-Key": {"hEaderSecret77"}}, errors.New("half read: hEaderSecret77")
	}
	senders := map[string]Sender{}
	for name, client := range map[string]*http.Client{
		"echo": {Transport: leaky(false)}, "error": {Transport: leaky(true)}, "nobody": {Transport: &http.Transport{}},
	} {
		senders["bot "+name] = NewSlackBot(probes.NewSecret(botToken), "#alerts", client)
		senders["webhook "+name] = NewWebhook(address, headers, client)
		senders["webhook without headers "+name] = NewWebhook(address, failing, client)
		senders["alertmanager "+name] = NewAlertmanager(address, headers, client)
		senders["no address "+name] = NewWebhook(probes.NewSecret("https://hooks.example:bad port/in/xSecretTokenX0123456789"), headers, client)
		senders["control byte "+name] = NewAlertmanager(probes.NewSecret("https://hooks.example/\x7f/xSecretTokenX0123456789"), headers, client)
	}
	for name, to := range senders {
		if strings.HasSuffix(name, "nobody") {
			continue // printed below, and not sent: it would leave the machine
		}
		n := tale("stock-api", KindResolved, "RESOLVED")
		n.Ways = ways([]string{"slack"})
		m, all := Deliver(t.Context(), Memory{Outbox: []Notice{n}}, []Destination{{Name: "slack", Sender: to}}, noon())
		if len(all[0].Errors) == 0 {
			t.Errorf("%s: it was sent", name)
		}
		holder := struct{ inner Sender }{to}
		text := shown(t, to, holder, m, all[0].Errors)
		for _, err := range all[0].Errors {
			text += shown(t, err)
		}
		for _, secret := range secrets {
			if strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", secret)) {
				t.Errorf("%s: %q is shown in %.2000s", name, secret, text)
			}
		}
	}
}

// TestUploadAddressIsSecret: whoever has it can upload.
func TestUploadAddressIsSecret(t *testing.T) {
	client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		switch r.URL.Path {
		case "/api/files.getUploadURLExternal":
			return canned(200, `{"ok":true,"upload_url":"https://files.slack.com/upload/v1/xSecretTokenX0123456789","file_id":"F1"}`, nil), nil
		case "/api/chat.postMessage":
			return canned(200, `{"ok":true,"channel":"C1","ts":"1.2","message":{}}`, nil), nil
		}
		return leaky(true)(r)
	})}
	n := charted(tale("stock-api", KindFiring, "FIRING"))
	err := NewSlackBot(probes.NewSecret(botToken), "#alerts", client).Illustrate(t.Context(), n, Thread{Channel: "C1", Root: "1.2"})
	if err == nil {
		t.Fatal("it was uploaded")
	}
	if text := shown(t, err); strings.Contains(text, "xSecretTokenX") || strings.Contains(text, "hunter2hunter2") {
		t.Errorf("it is shown in %s", text)
	}
}
