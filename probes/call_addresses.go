package probes

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"perch.example/probes/wire"
)

// MaxAddresses is how many of a host's addresses one step probes.
const MaxAddresses = 8

// mostFailing is how many addresses in a row may fail before a step leaves the
// others alone, as a target is left alone after as many exchanges.
const mostFailing = 3

// tries makes one exchange and perch's own second tries. Its error says that what
// comes next may not be sent.
type tries func(ctx context.Context, o *Observation, role Role) error

// eachAddress lets a step try what its spec says: the host, or each of its
// addresses by itself, one after the other.
func (c *call) eachAddress(ctx context.Context, o *Observation, try tries) error {
	if c.spec.Way.Addresses != AddressesAll {
		return try(ctx, o, RoleWarm)
	}
	began := time.Now()
	addrs := c.addresses(ctx)
	took := time.Since(began)
	if len(addrs) == 0 { // the one try says why
		return try(ctx, o, RoleWarm)
	}
	role, left, failing := RoleWarm, addrs[min(len(addrs), MaxAddresses):], 0
	for i, a := range addrs[:len(addrs)-len(left)] {
		if failing == mostFailing {
			o.without("exchange with "+a.String(), tooManyFailed())
			left = addrs[i:]
			break
		}
		c.pinned, c.once = a, failing > 0
		first := len(o.Attempts)
		err := try(ctx, o, role)
		if i == 0 && len(o.Attempts) > 0 {
			o.Attempts[0].Phases.DNS += took
		}
		var d *Denied
		if i > 0 && errors.As(err, &d) && len(o.Attempts) == first { // what was seen of the others stands
			o.without("exchange with "+a.String(), err)
			left = addrs[i:]
			break
		}
		if err != nil {
			return err
		}
		role = RoleAgain
		failing++
		if n := len(o.Attempts); n > first && !o.Attempts[n-1].Reason.Unwell() {
			failing = 0
		}
	}
	o.Unprobed = left
	return nil
}

// tooManyFailed is why the rest of a host's addresses is left alone.
func tooManyFailed() *Denied {
	return &Denied{Why: fmt.Sprintf("%d addresses in a row failed, and another run begins with another address", mostFailing)}
}

// addresses are those of the host that may be dialled, in an order that begins
// with another one at each turn. None: the name gives none, or there is nothing to
// choose.
func (c *call) addresses(ctx context.Context) []netip.Addr {
	if c.forward != nil || c.spec.Way.Socket != "" || c.allowed() != nil {
		return nil
	}
	all, err := wire.Lookup(ctx, c.unpinned())
	if err != nil {
		return nil
	}
	all = slices.DeleteFunc(all, func(a netip.Addr) bool { return c.env.Policy.Address(a) != nil })
	return inTurn(all, c.env.Turn)
}

// unpinned are the options of a connection to whatever the host's name means now.
func (c *call) unpinned() wire.Options {
	o := c.options()
	o.Resolve = c.env.Resolve
	return o
}

// inTurn sorts addresses, of which a resolver changes the order as it likes, each
// once, and begins with the turn's.
func inTurn(all []netip.Addr, turn uint64) []netip.Addr {
	all = slices.Clone(all)
	slices.SortFunc(all, netip.Addr.Compare)
	all = slices.Compact(all)
	if len(all) == 0 {
		return nil
	}
	at := int(turn % uint64(len(all)))
	return slices.Concat(all[at:], all[:at])
}

// takeTurn pins a rung to one address: it holds one connection, and the rungs of a
// ladder go round the addresses.
func (c *call) takeTurn(ctx context.Context) {
	if c.spec.Kind != KindIdle || c.spec.Way.Addresses != AddressesAll || c.pinned.IsValid() {
		return
	}
	if addrs := c.addresses(ctx); len(addrs) > 0 {
		c.pinned = addrs[0]
	}
}

// PinnedIP says that a connection stayed on an address that the host's name no
// longer gives, as a pool's connections do after a change in DNS.
type PinnedIP struct {
	Address netip.Addr   // of the connection
	Now     []netip.Addr // what the name gives, sorted
}

// pinnedIP looks, once a rung has ended, whether the address that its connection
// was held to is still one of the host's. It asks the resolver alone.
func (c *call) pinnedIP(ctx context.Context, o *Observation) {
	reuse := o.Attempt(ConnectionReused)
	if reuse == nil || !reuse.Remote.IsValid() || c.forward != nil || c.spec.Way.Socket != "" || ctx.Err() != nil {
		return
	}
	if _, err := netip.ParseAddr(c.url.Hostname()); err == nil {
		return
	}
	now, err := wire.Lookup(ctx, c.unpinned())
	if err != nil || slices.Contains(now, reuse.Remote.Addr()) {
		return
	}
	reuse.PinnedIP = &PinnedIP{Address: reuse.Remote.Addr(), Now: inTurn(now, 0)}
}
