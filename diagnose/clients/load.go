package clients

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"sync"

	"go.yaml.in/yaml/v3"

	"perch.example/probes"
)

//go:embed catalog.yaml
var catalogYAML []byte

// book is the catalog. Only what is asked for is parsed, and once: a run
// without a declared client pays for no client.
type book struct {
	kinds    []string // of the clients, in the order of the file
	layers   []string // the wrappers' kinds, likewise
	clients  map[string]func() Client
	wrappers func() []wrapper
}

// catalog is the file's contents. The file is part of the program and a test
// loads all of it, so that an error cannot reach a user.
//
//nolint:gochecknoglobals // it cannot change: a constant that has to be computed
var catalog = sync.OnceValue(func() book {
	l := newLoader(catalogYAML)
	b := book{kinds: l.kinds, layers: l.layers, clients: map[string]func() Client{}, wrappers: sync.OnceValue(func() []wrapper { return sound(l.wrappers()) })}
	for i, kind := range l.kinds {
		b.clients[kind] = sync.OnceValue(func() Client { return sound(l.client(i)) })
	}
	return b
})

// sound is what a part of the embedded file was read as.
func sound[T any](part T, err error) T {
	if err != nil {
		panic("perch's own catalog: " + err.Error())
	}
	return part
}

// The shapes of catalog.yaml's documents. Its head says what each key means.
type (
	wrappersDoc struct {
		Wrappers []wrapperDoc `yaml:"wrappers"`
	}
	sharedDoc struct {
		Hierarchies map[string]map[string][]string `yaml:"hierarchies"`
		Outcomes    map[string]outcomeDoc          `yaml:"outcomes"`
		Everywhere  map[Event]factDoc              `yaml:"everywhere"`
	}
	outcomeDoc struct {
		Error   string `yaml:"error"`
		Text    string `yaml:"text"`
		Note    string `yaml:"note"`
		Returns string `yaml:"returns"`
	}
	factDoc struct {
		All     string `yaml:"all"`
		Get     string `yaml:"get"`
		Post    string `yaml:"post"`
		Off     string `yaml:"off"`
		OffPost string `yaml:"off_post"`
		Looked  string `yaml:"looked"`
		Source  Source `yaml:"source"`
	}
	wrapperDoc struct {
		Kind        string         `yaml:"kind"`
		Name        string         `yaml:"name"`
		Around      []string       `yaml:"around"`
		Network     string         `yaml:"network"`
		Body        string         `yaml:"body"`
		Statuses    map[int]string `yaml:"statuses"`
		ClientError string         `yaml:"4xx"`
		ServerError string         `yaml:"5xx"`
		Hierarchies []string       `yaml:"hierarchies"`
		Source      Source         `yaml:"source"`
	}
	clientDoc struct {
		Kind        string                `yaml:"kind"`
		Name        string                `yaml:"name"`
		Language    string                `yaml:"language"`
		Verb        string                `yaml:"verb"`
		Versions    string                `yaml:"versions"`
		Measured    string                `yaml:"measured"`
		Idle        idleDoc               `yaml:"idle"`
		Looks       looksDoc              `yaml:"looks"`
		Pool        poolDoc               `yaml:"pool"`
		Retries     retriesDoc            `yaml:"retries"`
		Outcomes    map[string]outcomeDoc `yaml:"outcomes"`
		Facts       map[Event]factDoc     `yaml:"facts"`
		HTTP2       map[Event]factDoc     `yaml:"http2"`
		Hierarchies []string              `yaml:"hierarchies"`
		Errors      map[string][]string   `yaml:"errors"`
		Aliases     map[string][]string   `yaml:"aliases"`
		Settings    settingsDoc           `yaml:"settings"`
	}
	idleDoc struct {
		Limit  string `yaml:"limit"`
		Hint   bool   `yaml:"hint"`
		Margin string `yaml:"margin"`
		Sweeps int    `yaml:"sweeps"`
		Source Source `yaml:"source"`
	}
	looksDoc struct {
		From   string `yaml:"from"`
		Fixed  bool   `yaml:"fixed"`
		How    string `yaml:"how"`
		Source Source `yaml:"source"`
	}
	poolDoc struct {
		Order  probes.PoolOrder `yaml:"order"`
		How    string           `yaml:"how"`
		Source Source           `yaml:"source"`
	}
	retriesDoc struct {
		Does    string   `yaml:"does"`
		Methods []string `yaml:"methods"`
		Off     string   `yaml:"off"`
		Times   int      `yaml:"times"`
		Renews  bool     `yaml:"renews"`
		Source  Source   `yaml:"source"`
	}
	settingsDoc struct {
		MaxIdle      string            `yaml:"max_idle"`
		Validate     string            `yaml:"validate"`
		TCPKeepAlive string            `yaml:"tcp_keep_alive"`
		Timeout      string            `yaml:"timeout"`
		Retry        string            `yaml:"retry"`
		SpringBoot   map[string]string `yaml:"spring_boot"`
		Caveats      []string          `yaml:"caveats"`
	}
)

// loader types the documents. An unknown key, and a name that is nowhere
// defined, are errors; all of a document's are told at once.
type loader struct {
	kinds  []string
	layers []string
	parts  [][]byte // as in the file: the wrappers, what is shared, the clients
	read   func() (sharedDoc, error)
}

// newLoader only finds the documents and the kinds of what they hold.
func newLoader(raw []byte) loader {
	l := loader{parts: bytes.Split(raw, []byte("\n---\n"))}
	l.layers = kindsIn(l.parts[0], "  - kind: ")
	for _, part := range l.parts[min(2, len(l.parts)):] {
		l.kinds = append(l.kinds, kindsIn(part, "kind: ")...)
	}
	l.read = sync.OnceValues(func() (sharedDoc, error) {
		var d sharedDoc
		err := l.decode(1, &d)
		return d, err
	})
	return l
}

// kindsIn are the words after a line's beginning.
func kindsIn(part []byte, beginning string) []string {
	var kinds []string
	for line := range bytes.Lines(part) {
		if kind, ok := bytes.CutPrefix(line, []byte(beginning)); ok {
			kinds = append(kinds, string(bytes.TrimSpace(kind)))
		}
	}
	return kinds
}

func (l loader) decode(part int, into any) error {
	if part >= len(l.parts) {
		return fmt.Errorf("want the wrappers, what is shared and the clients, set apart by ---; got %d documents", len(l.parts))
	}
	decoder := yaml.NewDecoder(bytes.NewReader(l.parts[part]))
	decoder.KnownFields(true)
	return decoder.Decode(into)
}

// client reads the i-th client.
func (l loader) client(i int) (Client, error) {
	shared, err := l.read()
	if err != nil {
		return Client{}, err
	}
	var d clientDoc
	if err := l.decode(2+i, &d); err != nil {
		return Client{}, fmt.Errorf("%s: %w", l.kinds[i], err)
	}
	r := reading{shared: shared}
	c := r.client(d)
	return c, errors.Join(r.problems...)
}

// wrappers reads all of them.
func (l loader) wrappers() ([]wrapper, error) {
	shared, err := l.read()
	if err != nil {
		return nil, err
	}
	var d wrappersDoc
	if err := l.decode(0, &d); err != nil {
		return nil, err
	}
	r := reading{shared: shared}
	var all []wrapper
	for _, w := range d.Wrappers {
		all = append(all, r.wrapper(w, l.kinds))
	}
	return all, errors.Join(r.problems...)
}
