package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
)

// Config says what is restored, and where to.
type Config struct {
	Place    copylog.Place
	Manifest string // the name of an earlier one; empty for MANIFEST
	Dir      string // must be empty, or have what a restore of the same log left that did not end

	Through events.Sequence // the last record that is wanted; 0 for all
	At      events.Time     // likewise, by time; 0 for all
	All     bool            // also the files that the log did not keep any more

	WithoutKey bool // the key of the log stays where it is

	// Tell is called for each object that has come; nil for no call.
	Tell func(name string, done, total int64)
}

// Plan is what a restore is to do.
type Plan struct {
	Config
	Copy   *copylog.Manifest
	Files  []copylog.File // that come whole
	Sealed []copylog.Tail // that are written again from segments, before the last file
	Last   *copylog.Tail  // the last file, when it is written again from segments
	Cut    *copylog.File  // the last file, when it is to come from a sealed one; its records through the wanted one
	Key    *copylog.Object
	Bytes  int64 // of all that comes

	before events.Sequence // with which the file before the last one begins; 0 for none, and where the last one comes whole
}

// Make reads the manifest and decides what comes.
func Make(ctx context.Context, config *Config) (*Plan, error) {
	p := &Plan{Config: *config}
	if p.Manifest == "" {
		p.Manifest = copylog.ManifestName
	}
	if p.Tell == nil {
		p.Tell = func(string, int64, int64) {}
	}
	content, _, err := copylog.ReadAll(ctx, p.Place, p.Manifest, copylog.MostManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no copy at %s: it has no object %s", p.Place, p.Manifest)
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest of the copy at %s: %w", p.Place, err)
	}
	if p.Copy, err = copylog.Decode(content); err != nil {
		return nil, fmt.Errorf("%s at %s: %w. Earlier ones stand under manifests/: give the name of one with --manifest", p.Manifest, p.Place, err)
	}
	if !p.WithoutKey {
		p.Key = p.Copy.Key
	}
	if p.Through == p.Copy.Head.Sequence {
		p.Through = 0 // that is all of it
	}
	if p.At >= p.Copy.Head.Time {
		p.At = 0
	}
	if err := p.choose(); err != nil {
		return nil, err
	}
	for _, o := range p.objects() {
		p.Bytes += o.Bytes
	}
	return p, nil
}

// choose decides which files come, and where the last one ends.
func (p *Plan) choose() error {
	all := p.Copy.Runs()
	end := len(all)
	for i, r := range all {
		last := r.End()
		if p.Through != 0 && p.Through <= last.Sequence || p.At != 0 && p.At < last.Time {
			end = i + 1
			break
		}
	}
	last := all[end-1]
	begin := end - 1 // the last run of files without a hole, and of these what the log kept
	for begin > 0 && joined(all[begin-1], all[begin]) && (p.All || all[begin].First() > p.Copy.First) {
		begin--
	}
	if p.Through != 0 && p.Through < last.First() {
		return fmt.Errorf("the copy at %s does not have record %d: behind what is missing there it goes on with record %d", p.Place, p.Through, last.First())
	}
	if p.Through > p.Copy.Head.Sequence {
		return fmt.Errorf("the copy at %s ends with record %d", p.Place, p.Copy.Head.Sequence)
	}
	for _, r := range all[begin : end-1] {
		p.take(r)
	}
	if end-1 > begin {
		p.before = all[end-2].First()
	}
	ends := last.End()
	switch {
	case last.Segments != nil:
		p.Last = last.Segments
	case p.Through != 0 && p.Through < ends.Sequence || p.At != 0 && p.At < ends.Time:
		p.Cut = last.File
	default:
		p.take(last)
	}
	return nil
}

func (p *Plan) take(r copylog.Run) {
	if r.File != nil {
		p.Files = append(p.Files, *r.File)
	} else {
		p.Sealed = append(p.Sealed, *r.Segments)
	}
}

// joined reports whether two files follow each other.
func joined(a, b copylog.Run) bool { return a.End().Sequence+1 == b.First() }

// parts are the files and segments that come, in the order of the log.
func (p *Plan) parts() []copylog.File {
	all := slices.Clone(p.Files)
	for _, t := range p.Sealed {
		all = append(all, t.Segments...)
	}
	if p.Cut != nil {
		all = append(all, *p.Cut)
	}
	all = append(all, p.Segments()...)
	slices.SortFunc(all, func(a, b copylog.File) int { return cmp.Compare(a.First, b.First) })
	return all
}

// objects are those that come, in the order of the log.
func (p *Plan) objects() (all []copylog.Object) {
	for _, f := range p.parts() {
		all = append(append(all, f.Object), f.Derived...)
	}
	if p.Key != nil {
		all = append(all, *p.Key)
	}
	return all
}

// Segments are those of the last file that come.
func (p *Plan) Segments() []copylog.File {
	if p.Last == nil {
		return nil
	}
	for i, s := range p.Last.Segments {
		if p.Through != 0 && p.Through <= s.End.Sequence || p.At != 0 && p.At < s.End.Time {
			return p.Last.Segments[:i+1]
		}
	}
	return p.Last.Segments
}

// Check looks whether each object is there with its size, and names those that are not. It reads none of them.
func (p *Plan) Check(ctx context.Context) error {
	var errs []error
	for _, o := range p.objects() {
		size, err := p.Place.Size(ctx, o.Name)
		if err == nil && size != o.Bytes {
			err = fmt.Errorf("it has %d bytes, and %d were put", size, o.Bytes)
		}
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err != nil {
			errs = append(errs, p.damaged(o.Name, err))
		}
	}
	return errors.Join(errs...)
}

// first is the first record that comes.
func (p *Plan) first() events.Sequence { return p.parts()[0].First }

// Short reports whether the copy has later records than those that come.
func (p *Plan) Short() bool {
	parts := p.parts()
	return p.Cut != nil || parts[len(parts)-1].End != p.Copy.Head || p.Last != nil && (p.Through != 0 || p.At != 0)
}

// empty checks that the directory is one to restore into. What a restore of the same log left that did not end may
// stay.
func (p *Plan) empty() error {
	note, err := boltlog.Restoring(p.Dir)
	if err == nil {
		if note == p.note() {
			return nil
		}
		return fmt.Errorf("a restore of another log into %s has not ended: empty it, or give another directory", p.Dir)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := os.ReadDir(p.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() != "lost+found" {
			return fmt.Errorf("%s is not empty (%s): a log is only restored into an empty directory", p.Dir, e.Name())
		}
	}
	return nil
}

func (p *Plan) note() string { return "a restore of log " + p.Copy.Identity.LogID + "\n" }
