package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// atOnce is the number of records on a page, which are held in memory. With fewer, more names of Jobs are looked up: on
// each page those of the Jobs that the pages before told of.
const atOnce = 2000

// listing prints the wanted records of the log or of one object. It asks for page after page.
type listing struct {
	*eventsFlags
	c       *cli.CLI
	src     history.Source
	args    []string // the object
	printer *cli.Printer

	told  *ask.RecordsPage // the page that says what may be missing among all records
	last  *ask.RecordsPage // the page that was asked for last
	end   uint64           // the end of the log, as of the first page
	shown int
}

func newListing(ctx context.Context, c *cli.CLI, src history.Source, f *eventsFlags, args []string) *listing {
	p := cli.NewPrinter(c, &f.Output, history.NamesOf(ctx, src))
	p.Table.Fold = few(f.limit.Most) || few(f.tail())
	if f.watch {
		p.Live(ask.WantedRecords(f.records).Kinds)
	}
	return &listing{eventsFlags: f, c: c, src: src, args: args, printer: p}
}

// few reports whether so few records are requested that each is printed in full, over several lines. A user who looks
// up the records that an answer cites asks for one.
func few(records int) bool { return records > 0 && records <= 3 }

// history prints the existing records. Of an object without a record, an error is returned.
func (l *listing) history(ctx context.Context) (err error) {
	if l.tail() > 0 {
		err = l.newest(ctx)
	} else {
		err = l.onward(ctx)
	}
	if unknown := (*which.UnknownError)(nil); l.watch && l.last != nil && errors.As(err, &unknown) {
		return nil // its records are waited for
	}
	return err
}

// onward prints the first records, page by page, up to the end of the log as of the first page.
func (l *listing) onward(ctx context.Context) error {
	values := map[string]string{}
	for {
		size := atOnce
		if most := l.limit.Most; most > 0 {
			size = min(most-l.shown, size)
		}
		values["limit"] = strconv.Itoa(size)
		page, unread := l.page(ctx, values)
		if page == nil {
			return unread
		}
		if l.told == nil {
			l.told = page
		}
		if err := l.show(ctx, page); err != nil || unread != nil {
			return cmp.Or(err, unread)
		}
		if page.Next == 0 || l.limit.Most > 0 && l.shown >= l.limit.Most {
			return nil
		}
		values["from"], values["bare"] = decimal(page.Next), "true"
		values["through"] = decimal(l.end)
	}
}

// newest prints the last records. It asks for pages from the end of the log back.
func (l *listing) newest(ctx context.Context) error {
	values, left := map[string]string{}, l.tail()
	var pages []*ask.RecordsPage
	var unread error
	for left > 0 && unread == nil {
		values["tail"] = strconv.Itoa(left)
		var page *ask.RecordsPage
		if page, unread = l.page(ctx, values); page == nil {
			break
		}
		pages, l.told = append(pages, page), page
		if left -= held(page); page.Before == 0 {
			break
		}
		values["through"] = decimal(page.Before)
	}
	for _, page := range slices.Backward(pages) {
		if err := l.show(ctx, page); err != nil {
			return err
		}
	}
	return unread
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// held returns the number of records on a page.
func held(page *ask.RecordsPage) int {
	n := max(len(page.Records), len(page.Said))
	if page.Cut != nil {
		n++
	}
	return n
}

// page asks for a page. Further pages are of the object and of the times that the first page found.
func (l *listing) page(ctx context.Context, values map[string]string) (*ask.RecordsPage, error) {
	args := l.args
	values["words"] = string(l.printer.Words())
	if l.last != nil {
		args = l.again(args)
		for name, t := range map[string]recordjson.Instant{"since": l.last.Since, "until": l.last.Until} {
			if t != 0 {
				values[name] = recordjson.Stamp(events.Time(t))
			}
		}
	}
	for name, value := range values {
		if err := l.records.Flags.Set(name, value); err != nil {
			return nil, fmt.Errorf("set %s: %w", name, err)
		}
	}
	if err := l.records.Read(args); err != nil {
		return nil, err
	}
	page, err := cli.Put(ctx, l.c, l.src, l.records, serve.Hears{Note: l.c.Note, Behind: l.c.Note, Read: l.c.HasRead})
	if page != nil && l.last == nil {
		l.end = page.AsOf.Sequence
	}
	if page != nil {
		l.last = page
	}
	return page, err
}

// again returns the arguments for a further page: the object by its UID, since the name may be that of a newer one now.
func (l *listing) again(args []string) []string {
	o := l.last.Object
	switch {
	case o == nil || !which.IsUID(o.UID):
		return args
	case o.Namespace == "" || l.given(ask.FlagNamespace):
		return []string{o.Kind + "/" + o.UID}
	}
	return []string{o.Kind + "/" + o.Namespace + "/" + o.UID}
}

// show prints the records of a page.
func (l *listing) show(ctx context.Context, page *ask.RecordsPage) error {
	l.shown += held(page)
	if page.Cut != nil {
		r, err := history.Record(ctx, l.src, events.Sequence(page.Cut.Sequence))
		if err != nil {
			return err
		}
		return l.record(&r)
	}
	for _, line := range page.Records {
		if err := l.printer.Line(line); err != nil {
			return err
		}
	}
	for i := range page.Said {
		l.printer.Said(&page.Said[i])
	}
	return nil
}

// record prints a record that is on no page.
func (l *listing) record(r *events.Record) error {
	l.printer.Names.Learn(r)
	defer l.printer.Names.Forget(r)
	return l.printer.Record(r)
}

// tellMissing notes the requested times in which the cluster was not watched, or not everything was recorded. For
// programs, the latter are a document of their own.
func (l *listing) tellMissing() error {
	for _, g := range l.told.Gaps { // there are no records of that time
		when := show.NotWatched(g, l.Output.Zone())
		fmt.Fprintf(l.c.Err, "note: %s. What happened then was found at its end, or never\n", when)
	}
	if l.Output.Document() {
		return passedLine(l.c, &l.Output, l.told.PassedOver)
	}
	noteTimes(l.c, l.told.PassedOver, l.Output.Zone())
	return nil
}

// follow prints new records as they come, until ctx ends.
func (l *listing) follow(ctx context.Context) error {
	wanted := ask.WantedRecords(l.records)
	wanted.Since = events.Time(l.told.Since)
	for r, err := range l.src.Follow(ctx, max(wanted.From, events.Sequence(l.end+1))) {
		if err != nil {
			return err
		}
		if o := l.told.Object; o != nil && r.Stream != o.Stream() {
			continue
		}
		l.printer.Names.Learn(&r)
		if !wanted.Wants(&r, l.printer.Names) {
			l.printer.Names.Forget(&r)
			continue
		}
		if err := l.record(&r); err != nil {
			return err
		}
		if err := l.printer.Flush(); err != nil {
			return err
		}
	}
	return nil
}
