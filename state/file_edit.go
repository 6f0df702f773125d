package state

import (
	"context"
	"errors"
	"fmt"
)

// EditFile changes the document in path beside a run that may be under way: it
// does not need the run's lock, and what the run saves later keeps the change.
// No file is an empty document. What cannot be read is left to the next run,
// which keeps it aside, and is not edited. An error of edit's changes nothing.
func EditFile(ctx context.Context, path string, _ Options, edit func(*Document) error) (err error) {
	path, err = place(path)
	if err != nil {
		return err
	}
	writing, err := takeWriteLock(ctx, path)
	if err != nil {
		return mayNotWrite(path, err)
	}
	defer func() { err = errors.Join(err, writing.release()) }()
	d, _, err := readStanding(path)
	var unusable *contentError
	if errors.As(err, &unusable) {
		return notEditable(path, unusable.err)
	}
	if err != nil {
		return err
	}
	if err := edit(&d); err != nil {
		return err
	}
	_, err = writeDocument(path, d)
	return err
}

func notEditable(where string, reason error) error {
	if reason = upgradeFor(reason); kindOf(reason) == kindNewer {
		return fmt.Errorf("editing state %q: %w; nothing is changed", where, reason)
	}
	return fmt.Errorf("editing state %q: %w; the next perch run keeps it aside and starts anew: edit after it", where, reason)
}

// upgradeFor says what to do about a state of a later version. Where somebody
// edits or looks, it is as a rule their own perch alone that is old: the one
// that runs wrote the state.
func upgradeFor(reason error) error {
	if kindOf(reason) != kindNewer {
		return reason
	}
	return fmt.Errorf("%w: upgrade this perch to the version that runs there", reason)
}

// ReadFile returns the document in path for somebody who only looks: it takes
// no lock and moves nothing aside. A run that saves meanwhile is seen before or
// after, since Save renames. No file is an empty document.
func ReadFile(path string) (Document, error) {
	path, err := followed(path)
	if err != nil {
		return Document{}, err
	}
	d, _, err := readStanding(path)
	var unusable *contentError
	if errors.As(err, &unusable) {
		return Document{}, fmt.Errorf("reading state %q: %w", path, upgradeFor(err))
	}
	return d, err
}
