package state

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ConfigMap keeps one Document in a ConfigMap. One run at a time holds it, by a
// Lease, for as long as the run lasts; an edit (EditConfigMap) may come in
// between. It is not for use by several goroutines at once.
type ConfigMap struct {
	object  object
	options Options
	lease   *lease // nil: closed
	loaded  bool
	base    Document // what the caller's document was made from
	warning string
}

// OpenConfigMap takes the Lease: it waits for its turn until ctx ends or c.Wait
// passes, then gives a *LockedError that names the holder. Errors of the API
// server's say what to apply.
func OpenConfigMap(ctx context.Context, c ConfigMapConfig, o Options) (*ConfigMap, error) {
	a, err := c.connect()
	if err != nil {
		return nil, err
	}
	held, err := takeLease(ctx, a)
	if err != nil {
		a.close()
		return nil, err
	}
	return &ConfigMap{object: object{api: a}, options: o, lease: held}, nil
}

func (c ConfigMapConfig) connect() (*api, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	a, err := newAPI(c.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("opening state %q: %w", c.path(), err)
	}
	return a, nil
}

// Load reads the document. A ConfigMap without one is an empty document. One
// that is corrupt, or of a later version, is said through *AsideError, together
// with an empty document that can be used: the next Save keeps the old content
// under another key. A ConfigMap that holds other things gives a *ForeignError.
// What a run that was killed had reserved, and could not take back, is counted
// as sent. After any error but the first, Save refuses to write.
func (m *ConfigMap) Load(ctx context.Context) (Document, error) {
	m.loaded, m.object.aside = false, ""
	if m.lease == nil {
		return Document{}, m.closed("reading")
	}
	err := m.object.read(ctx, "reading")
	var unusable *contentError
	var aside error
	switch {
	case errors.As(err, &unusable):
		aside = m.object.setAside(unusable.err, time.Now())
	case err != nil:
		return Document{}, err
	}
	m.loaded, m.base = true, m.object.document.clone()
	d := m.base.clone()
	if r := m.lease.inherited(); r != nil {
		d = d.Reserved(*r)
	}
	return d, aside
}

// Reserve keeps in the Lease what the run may send. Should perch be killed, the
// next run that takes the Lease counts it as sent; Save takes it back.
func (m *ConfigMap) Reserve(ctx context.Context, r Reservation) error {
	if m.lease == nil {
		return m.closed("reserving in")
	}
	if err := m.lease.reserve(ctx, r); err != nil {
		return m.object.api.config.explain("reserving in", resourceLeases, err)
	}
	return nil
}

// Save writes the document at once: whoever reads the ConfigMap finds the old
// one or the new one, whole. What others changed meanwhile is kept. It refuses
// a document beyond the bound (900 KiB packed; *TooLargeError), and to write
// what it has not loaded. When the Lease did not hold, the document is saved,
// joined with what the other perch wrote, and a *LostError says so.
func (m *ConfigMap) Save(ctx context.Context, d Document) error {
	if m.lease == nil {
		return m.closed("saving")
	}
	if !m.loaded {
		return fmt.Errorf("saving state %q: what stands there was not loaded, so it is not replaced", m.object.api.config.path())
	}
	keep := func(reason error) error { return m.object.setAside(reason, time.Now()) }
	done, err := m.object.replace(ctx, keep, func(standing Document, there bool) (Document, error) {
		if !there {
			standing = m.base // nobody changed it: whoever empties it in the middle of a run gets the run's
		}
		return merge(m.base, d, standing, m.options)
	})
	m.warning = done.warning
	if err != nil {
		return err
	}
	m.base = d.clone()
	m.lease.saved()
	if err := m.lease.check(ctx); err != nil {
		return errors.Join(fmt.Errorf("saving state %q: it is saved, but %w", m.object.api.config.path(), err), done.aside)
	}
	return done.aside
}

// Warning says, after a Save, what will need care soon, or what was given up;
// empty: nothing.
func (m *ConfigMap) Warning() string { return m.warning }

// Close lets the Lease go. The document stays. A *LostError says that another
// perch had taken it since the last Save.
func (m *ConfigMap) Close(ctx context.Context) error {
	if m.lease == nil {
		return nil
	}
	held := m.lease
	m.lease = nil
	defer m.object.api.close()
	if err := held.release(ctx); err != nil {
		return m.object.api.config.explain("unlocking", resourceLeases, err)
	}
	return nil
}

func (m *ConfigMap) closed(doing string) error {
	return fmt.Errorf("%s state %q: it is closed", doing, m.object.api.config.path())
}

// EditConfigMap changes the document beside a run that may be under way: it
// does not need the Lease, and what the run saves later keeps the change. edit
// is called again on what stands then when somebody else wrote meanwhile; its
// error changes nothing. What cannot be read is left to the next run.
func EditConfigMap(ctx context.Context, c ConfigMapConfig, _ Options, edit func(*Document) error) error {
	a, err := c.connect()
	if err != nil {
		return err
	}
	defer a.close()
	o := object{api: a}
	refuse := func(reason error) error { return notEditable(c.path(), reason) }
	_, err = o.replace(ctx, refuse, func(d Document, _ bool) (Document, error) {
		err := edit(&d)
		return d, err
	})
	return err
}

// ReadConfigMap returns the document for somebody who only looks. No document
// is an empty one.
func ReadConfigMap(ctx context.Context, c ConfigMapConfig) (Document, error) {
	a, err := c.connect()
	if err != nil {
		return Document{}, err
	}
	defer a.close()
	o := object{api: a}
	err = o.read(ctx, "reading")
	var unusable *contentError
	if errors.As(err, &unusable) {
		return Document{}, fmt.Errorf("reading state %q: %w", c.path(), upgradeFor(err))
	}
	return o.document, err
}
