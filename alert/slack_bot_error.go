package alert

import (
	"slices"
	"strings"
)

// verdictOf is what a word of Slack's means for a notice.
type verdictOf struct {
	place     bool   // another channel may take it
	content   bool   // another text may pass
	ambiguous bool   // it may have been done all the same
	limited   bool   // later
	gone      bool   // the message that it is about was deleted
	fixed     bool   // that message cannot be edited, now and later
	advice    string // CHANNEL stands for the channel
}

// judgeCode says what a word of Slack's means. The words stand in Slack's
// reference of chat.postMessage, chat.update and the two files methods. One that
// is not known is a clear refusal: nothing was posted, and nothing is known that
// would help.
func judgeCode(code string) verdictOf {
	for _, judge := range []func(string) (verdictOf, bool){judgePlace, judgeAccess, judgeContent, judgeEdit, judgeAway} {
		if v, ok := judge(code); ok {
			return v
		}
	}
	return verdictOf{advice: "Slack's reference of the method says what this means"}
}

// judgePlace knows what is wrong with a channel.
func judgePlace(code string) (verdictOf, bool) {
	switch code {
	case "not_in_channel":
		return verdictOf{place: true, advice: "invite the app: write /invite @perch (the app's name) in CHANNEL"}, true
	case "channel_not_found":
		return verdictOf{place: true, advice: "there is no CHANNEL that the app sees: look at the name in the config; to a private channel the app must be invited (/invite @perch)"}, true
	case "is_archived", "channel_is_archived", "is_inactive":
		return verdictOf{place: true, advice: "CHANNEL is archived: name another one in the config, or unarchive it"}, true
	case "restricted_action", "restricted_action_read_only_channel", "restricted_action_thread_only_channel", "restricted_action_non_threadable_channel":
		return verdictOf{place: true, advice: "a setting of the workspace does not let the app post to CHANNEL: ask its admins, or name another channel in the config"}, true
	case "channel_type_not_supported", "cannot_dm_bot", "messages_tab_disabled", "user_not_found":
		return verdictOf{place: true, advice: "CHANNEL is no channel that an app can post to: name one in the config"}, true
	case "slack_connect_canvas_sharing_blocked", "slack_connect_file_link_sharing_blocked", "slack_connect_blocked_file_type":
		return verdictOf{place: true, advice: "CHANNEL is shared with another organization, whose admins do not allow this"}, true
	}
	return verdictOf{}, false
}

// judgeAccess knows what is wrong with the token, the app or the workspace:
// nothing passes until somebody acts.
func judgeAccess(code string) (verdictOf, bool) {
	switch code {
	case "invalid_auth", "not_authed":
		return verdictOf{advice: "Slack does not know the token: is the secret the whole bot token (xoxb-…) of the app?"}, true
	case "token_revoked":
		return verdictOf{advice: "the token was revoked: install the app in the workspace again, and renew the secret"}, true
	case "token_expired":
		return verdictOf{advice: "the token has expired: perch needs a bot token without rotation"}, true
	case "account_inactive":
		return verdictOf{advice: "the app was removed from the workspace, or the workspace is gone: install it again, and renew the secret"}, true
	case "missing_scope":
		return verdictOf{advice: "add the scope to the app (OAuth & Permissions) and install it again"}, true
	case "not_allowed_token_type", "no_permission", "access_denied":
		return verdictOf{advice: "the token may not do this: perch needs a bot token (xoxb-…) with chat:write, and files:write for pictures"}, true
	case "accesslimited", "org_login_required", "two_factor_setup_required", "team_access_not_granted", "enterprise_is_restricted":
		return verdictOf{advice: "the workspace's admins do not let the app in from here: ask them to allow it"}, true
	case "ekm_access_denied":
		return verdictOf{advice: "the workspace's admins have suspended posting (Enterprise Key Management): ask them"}, true
	case "team_added_to_org", "team_not_found":
		return verdictOf{advice: "the workspace was moved or is gone: install the app again, and renew the secret"}, true
	case "file_uploads_disabled", "file_uploads_except_images_disabled", "file_type_not_allowed", "file_upload_size_restricted":
		return verdictOf{advice: "the workspace does not allow uploads: notices come without pictures"}, true
	}
	return verdictOf{}, false
}

// judgeContent knows what is wrong with what a notice says.
func judgeContent(code string) (verdictOf, bool) {
	switch code {
	case "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "no_text", "invalid_arguments",
		"invalid_arg_name", "invalid_array_arg", "invalid_form_data", "invalid_charset", "invalid_post_type", "missing_post_type",
		"too_many_attachments", "too_many_contact_cards", "attachment_payload_limit_exceeded", "markdown_text_conflict",
		"metadata_too_large", "invalid_metadata_format", "invalid_metadata_schema", "alt_txt_too_large", "block_mismatch":
		return verdictOf{content: true, advice: "Slack refused what the notice says; it is in the report"}, true
	}
	return verdictOf{}, false
}

// judgeEdit knows why a message cannot be edited or replied to.
func judgeEdit(code string) (verdictOf, bool) {
	switch code {
	case "message_not_found", "thread_not_found", "invalid_thread_ts", "cannot_reply_to_message":
		return verdictOf{gone: true, advice: "somebody deleted the incident's first message"}, true
	case "edit_window_closed":
		return verdictOf{fixed: true, advice: "the workspace lets messages be edited for a short time only: the first message stays as it was, the thread says what holds now"}, true
	case "cant_update_message", "cant_edit_message":
		return verdictOf{fixed: true, advice: "Slack does not let the app edit the incident's first message (another app wrote it?): the thread says what holds now"}, true
	case "external_channel_migrating", "update_failed":
		return verdictOf{advice: "Slack did not edit the incident's first message: the thread says what holds now"}, true
	}
	return verdictOf{}, false
}

// judgeAway knows the words of a Slack that is busy or broken.
func judgeAway(code string) (verdictOf, bool) {
	switch code {
	case "ratelimited", "rate_limited", "message_limit_exceeded":
		return verdictOf{limited: true}, true
	case "internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_is_being_migrated":
		return verdictOf{ambiguous: true}, true
	}
	return verdictOf{}, false
}

// advise completes what is known of a failure from Slack's word for it.
func (e *SendError) advise(channel string, answer said) {
	if e.Code == "" {
		return
	}
	v := judgeCode(e.Code)
	e.Place, e.Content, e.gone, e.fixed = v.place, v.content, v.gone, v.fixed
	e.Ambiguous = e.Ambiguous || v.ambiguous
	if v.limited {
		e.RetryAfter = defaultPause
	}
	e.advice = strings.ReplaceAll(v.advice, "CHANNEL", orWords(channel, "the channel"))
	if answer.Needed != "" {
		e.advice = "needed: " + named(answer.Needed) + ", the token has: " + named(answer.Provided) + "; " + e.advice
	}
	if len(answer.Metadata.Messages) > 0 {
		e.advice = shorten(clean(strings.Join(answer.Metadata.Messages, "; ")), maxBody, "…") + "; " + e.advice
	}
}

// named shows scopes.
func named(scopes string) string {
	all := strings.FieldsFunc(scopes, func(r rune) bool { return r == ',' || r == ' ' })
	slices.Sort(all)
	return orWords(shorten(clean(strings.Join(all, ", ")), maxBody, "…"), "none")
}

// beside is the failure of something that the notice can do without.
func (e *SendError) beside() *SendError {
	own := *e
	own.Ambiguous, own.RetryAfter = false, 0
	own.advice = strings.TrimPrefix(own.advice+"; the notice itself was delivered", "; ")
	return &own
}
