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

// Config says what to restore, and where.
type Config struct {
	Place    copylog.Place
	Manifest string // name of an earlier manifest (list of the copy's objects); empty for the newest, MANIFEST
	Dir      string // must be empty, or contain an unfinished restore of the same log

	Through events.Sequence // last record to restore; 0 for all
	At      events.Time     // restore records up to this time; 0 for all
	All     bool            // also restore old files that the log had deleted

	WithoutKey bool // do not restore the log's key

	// Tell is called for each fetched object; may be nil.
	Tell func(name string, done, total int64)
}

// Plan says which files a restore copies, and which it rebuilds from pieces (segments).
type Plan struct {
	Config
	Copy   *copylog.Manifest
	Files  []copylog.File // copied as they are
	Sealed []copylog.Tail // rebuilt from segments, before the last file
	Last   *copylog.Tail  // the last file, if it is rebuilt from segments
	Cut    *copylog.File  // a complete file that becomes the last one, cut after the last wanted record
	Key    *copylog.Object
	Bytes  int64 // bytes to fetch

	// First record of the file before the last one; 0 if there is none
	before events.Sequence
}

// Make reads the manifest, the list of the copy's objects, and returns what a restore has to do.
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
		p.Through = 0 // 0 stands for everything
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

// choose sets which files are restored, and how the last one is made.
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
	// Begin after the newest gap in the records. Unless All is set, begin no earlier than the first record that the log
	// still had.
	begin := end - 1
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

// joined reports whether b begins with the record that follows the last one of a.
func joined(a, b copylog.Run) bool { return a.End().Sequence+1 == b.First() }

// parts returns the files and segments (pieces of files) to fetch, in the order of the log.
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

// objects returns the objects to fetch, in the order of the log.
func (p *Plan) objects() (all []copylog.Object) {
	for _, f := range p.parts() {
		all = append(append(all, f.Object), f.Derived...)
	}
	if p.Key != nil {
		all = append(all, *p.Key)
	}
	return all
}

// Segments returns the segments (pieces) of the last file that are fetched.
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

// Check returns an error that names each object that is missing or has the wrong size. It reads no content.
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

// first returns the first record to restore.
func (p *Plan) first() events.Sequence { return p.parts()[0].First }

// Short reports whether the copy has later records than the restored log will have.
func (p *Plan) Short() bool {
	parts := p.parts()
	return p.Cut != nil || parts[len(parts)-1].End != p.Copy.Head || p.Last != nil && (p.Through != 0 || p.At != 0)
}

// empty returns an error unless the directory is empty, or contains an unfinished restore of the same log.
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
