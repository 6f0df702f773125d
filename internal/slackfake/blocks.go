package slackfake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// What Slack's reference of Block Kit allows.
const (
	mostBlocks   = 50
	mostText     = 3000
	mostHeader   = 150
	mostFields   = 10
	mostField    = 2000
	mostElements = 10
	mostBlockID  = 255
	mostAltText  = 2000
	mostURL      = 3000
)

// CheckBlocks says what Slack finds wrong with a message's blocks, in its own
// words; nothing is wrong when it returns nothing. ok is false when they are
// not a list of blocks at all. Of Slack's types of blocks it knows those that
// need nobody who answers: header, section, context, divider and image. All
// others count as unknown: what cannot be checked must not pass.
func CheckBlocks(blocks []byte) (wrong []string, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(blocks))
	decoder.UseNumber()
	var list []any
	if !json.Valid(blocks) || decoder.Decode(&list) != nil || list == nil {
		return nil, false
	}
	c := checker{}
	c.most(list, mostBlocks, "/blocks")
	for i, block := range list {
		c.block(block, fmt.Sprintf("/blocks/%d", i))
	}
	return c.wrong, true
}

type checker struct {
	wrong []string
	ids   []string
}

func (c *checker) fault(at, format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...)+" [json-pointer:"+at+"]")
}

func (c *checker) most(list []any, most int, at string) {
	if len(list) > most {
		c.fault(at, "no more than %d items allowed", most)
	}
}

func (c *checker) block(value any, at string) {
	block, ok := value.(object)
	if !ok {
		c.fault(at, "must provide an object")
		return
	}
	c.blockID(block, at)
	switch kind, _ := block["type"].(string); kind {
	case "":
		c.fault(at, "missing required field: type")
	case "header":
		c.only(block, at, "type", "block_id", "text")
		c.required(block, "text", at, textRule{most: mostHeader, plainOnly: true})
	case "section":
		c.section(block, at)
	case "context":
		c.only(block, at, "type", "block_id", "elements")
		c.context(block["elements"], at+"/elements")
	case "divider":
		c.only(block, at, "type", "block_id")
	case "image":
		c.only(block, at, "type", "block_id", "image_url", "slack_file", "alt_text", "title")
		c.image(block, at)
		if title, given := block["title"]; given {
			c.text(title, at+"/title", textRule{most: mostAltText, plainOnly: true})
		}
	default:
		c.fault(at+"/type", "unsupported type: %s", kind)
	}
}

func (c *checker) blockID(block object, at string) {
	value, given := block["block_id"]
	if !given {
		return
	}
	id, ok := value.(string)
	c.length(id, mostBlockID, at+"/block_id")
	if !ok || slices.Contains(c.ids, id) {
		c.fault(at+"/block_id", "`block_id` %q already exists", id)
	}
	c.ids = append(c.ids, id)
}

func (c *checker) section(block object, at string) {
	c.only(block, at, "type", "block_id", "text", "fields", "expand")
	text, hasText := block["text"]
	fields, hasFields := block["fields"]
	if !hasText && !hasFields {
		c.fault(at, "must define either `text` or `fields`")
	}
	if hasText {
		c.text(text, at+"/text", textRule{most: mostText})
	}
	if !hasFields {
		return
	}
	list, ok := fields.([]any)
	if !ok || len(list) == 0 {
		c.fault(at+"/fields", "must provide a list of at least 1 item")
	}
	c.most(list, mostFields, at+"/fields")
	for i, field := range list {
		c.text(field, fmt.Sprintf("%s/fields/%d", at, i), textRule{most: mostField})
	}
}

func (c *checker) context(value any, at string) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		c.fault(at, "must provide a list of at least 1 item")
	}
	c.most(list, mostElements, at)
	for i, element := range list {
		where := fmt.Sprintf("%s/%d", at, i)
		if image, ok := element.(object); ok && image["type"] == "image" {
			c.only(image, where, "type", "image_url", "slack_file", "alt_text")
			c.image(image, where)
			continue
		}
		c.text(element, where, textRule{most: mostText})
	}
}

func (c *checker) image(image object, at string) {
	alt, ok := image["alt_text"].(string)
	if !ok {
		c.fault(at, "missing required field: alt_text")
	} else {
		c.length(alt, mostAltText, at+"/alt_text")
	}
	address, hasURL := image["image_url"].(string)
	file, hasFile := image["slack_file"].(object)
	if hasURL == hasFile {
		c.fault(at, "must define either `image_url` or `slack_file`")
	}
	if hasURL {
		c.length(address, mostURL, at+"/image_url")
		if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
			c.fault(at+"/image_url", "must be a valid URL")
		}
	}
	if hasFile {
		c.only(file, at+"/slack_file", "id", "url")
	}
}

// textRule is what one place asks of its text object.
type textRule struct {
	most      int
	plainOnly bool
}

func (c *checker) required(block object, name, at string, rule textRule) {
	if _, given := block[name]; !given {
		c.fault(at, "missing required field: %s", name)
		return
	}
	c.text(block[name], at+"/"+name, rule)
}

func (c *checker) text(value any, at string, rule textRule) {
	text, ok := value.(object)
	if !ok {
		c.fault(at, "must provide an object")
		return
	}
	before := len(c.wrong)
	content, isText := text["text"].(string)
	if !isText {
		c.fault(at, "missing required field: text")
	} else {
		c.length(content, rule.most, at+"/text")
	}
	switch kind, _ := text["type"].(string); {
	case kind == "plain_text":
		c.only(text, at, "type", "text", "emoji")
	case kind == "mrkdwn" && !rule.plainOnly:
		c.only(text, at, "type", "text", "verbatim")
	default:
		c.fault(at+"/type", "unsupported type: %s", kind)
	}
	for _, name := range []string{"emoji", "verbatim"} {
		if flag, given := text[name]; given && flag != true && flag != false {
			c.fault(at+"/"+name, "must be a boolean")
		}
	}
	if len(c.wrong) > before { // Slack says that first
		c.wrong = slices.Insert(c.wrong, before, "failed to match all allowed schemas [json-pointer:"+at+"]")
	}
}

// length counts as JavaScript does: what is more by another count is less by this one.
func (c *checker) length(text string, most int, at string) {
	switch n := len(utf16.Encode([]rune(text))); {
	case strings.TrimSpace(text) == "":
		c.fault(at, "must be more than 0 characters")
	case n > most:
		c.fault(at, "must be less than %d characters", most+1)
	}
}

func (c *checker) only(value object, at string, names ...string) {
	var others []string
	for name := range value {
		if !slices.Contains(names, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	for _, name := range others {
		c.fault(at, "invalid additional property: %s", name)
	}
}
