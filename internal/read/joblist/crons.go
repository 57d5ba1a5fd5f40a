package joblist

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// CronJobs live for years, and each file states all that there are. So unlike Jobs they stand in the list of every
// file, by their UIDs, with their state while the list may go on. A page reads the CronJobs of all lists, which are
// few.

// cronRow is one CronJob in a list.
type cronRow struct {
	key          events.Sequence // the first record of the CronJob that the log holds
	state, names []byte          // while the list may go on; nil of one that is over
	history.CronSummary
}

func (r *cronRow) encode() ([]byte, error) {
	text, err := json.Marshal(&r.CronSummary)
	if err != nil {
		return nil, err
	}
	return append(appendText(appendText(keyBytes(r.key), r.state), r.names), text...), nil
}

func decodeCronRow(content []byte) (r cronRow, err error) {
	d := decoder{rest: content}
	key := d.bytes(8)
	r.state, r.names = d.text(), d.text()
	if d.bad || json.Unmarshal(d.rest, &r.CronSummary) != nil {
		return r, errMalformed
	}
	r.key = events.Sequence(binary.BigEndian.Uint64(key))
	return r, nil
}

// cronJob looks a CronJob up by its stream.
func (l *list) cronJob(s events.Stream) (r cronRow, ok bool, err error) {
	content, ok, err := l.crons.find([]byte(s.ID))
	if !ok || err != nil {
		return r, false, err
	}
	r, err = decodeCronRow(content)
	return r, err == nil, err
}

// CronJobs gives the CronJobs that a query wants. With an error that is ErrCorrupt it gives those of the files that can
// be read.
func (l *Lists) CronJobs(ctx context.Context, q history.CronListQuery) (page history.CronListPage, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	files, err := l.config.files()
	if err != nil {
		return page, err
	}
	m := newMerge(ctx, &l.config, files)
	m.keep = &l.keep
	defer m.close()
	found := map[string]cronRow{} // by UID; of a CronJob that several files know, the row of the newest
	for _, f := range slices.Backward(m.files) {
		if err := ctx.Err(); err != nil {
			return page, err
		}
		if f.End.Sequence != 0 && f.End.Sequence < f.First {
			continue // there is nothing in it
		}
		err := m.cronsOf(f, func(r *cronRow) {
			if _, known := found[r.UID]; !known {
				r.state, r.names = nil, nil
				found[r.UID] = *r
			}
		})
		if err != nil {
			return page, err
		}
	}
	m.pastCrons(found)
	rows := slices.SortedFunc(maps.Values(found), func(a, b cronRow) int { return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(a.UID, b.UID)) })
	settle(rows, q.Settle)
	for i := range rows {
		r := &rows[i]
		if q.Before != 0 && r.key >= q.Before || events.Sequence(r.Last) < q.From || !q.Wants(&r.CronSummary) {
			continue
		}
		if q.Limit > 0 && len(page.CronJobs) == q.Limit {
			return page, m.unread(nil)
		}
		page.CronJobs = append(page.CronJobs, r.CronSummary)
		page.Next = r.key
	}
	page.Next = 0
	return page, m.unread(nil)
}

// settle has it said how CronJobs stand.
func settle(rows []cronRow, how func([]history.CronSummary)) {
	if how == nil || len(rows) == 0 {
		return
	}
	all := make([]history.CronSummary, len(rows))
	for i := range rows {
		all[i] = rows[i].CronSummary
	}
	how(all)
	for i := range rows {
		rows[i].CronSummary = all[i]
	}
}

// pastCrons gives CronJobs whose first records are pruned places behind all others, by their creation: what lists had
// them under differs.
func (m *merge) pastCrons(found map[string]cronRow) {
	var past []cronRow
	for _, r := range found {
		if r.key < m.first {
			past = append(past, r)
		}
	}
	slices.SortFunc(past, func(a, b cronRow) int { return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.UID, b.UID)) })
	for i, r := range past {
		r.key, r.First = events.Sequence(i), 0 // each has a record that is pruned, so these are less than the first that is kept
		found[r.UID] = r
	}
}

// cronsOf gives the rows of CronJobs of a file, the newest of each first.
func (m *merge) cronsOf(f store.File, take func(*cronRow)) error {
	l := m.list(f)
	if l == nil || l.through.Sequence != f.End.Sequence {
		u, base, err := m.unlisted(f, l)
		if err != nil {
			return err
		}
		for _, r := range u.crons {
			take(&r)
		}
		l = base
	}
	if l == nil {
		return nil
	}
	for it, err := range l.crons.all {
		var r cronRow
		if err == nil {
			r, err = decodeCronRow(it.content)
		}
		if errors.Is(err, errMalformed) { // it is derived: the records tell
			m.open[f.First] = nil
			p, err := m.fold(f, nil)
			if err != nil {
				return err
			}
			for _, r := range p.cronRows() {
				take(&r)
			}
			return nil
		}
		if err != nil {
			return err
		}
		take(&r)
	}
	return nil
}

// recallCron finds what was known of a CronJob before its first record in the fold.
func (p *part) recallCron(ctx context.Context, r *events.Record) error {
	p.keys[r.Stream] = cmp.Or(r.Previous, r.Sequence)
	if r.Previous == 0 {
		return nil
	}
	k, ok, err := p.cronBefore(r)
	if err != nil {
		return err
	}
	if !ok {
		if k, err = p.cronHistory(ctx, r); err != nil {
			return err
		}
	}
	p.keys[r.Stream] = k.key
	p.fold.RecallCron(k.CronSummary)
	if len(k.state) > 0 && !p.whole {
		return p.restore(r.Stream, k.state, k.names)
	}
	return nil
}

// cronBefore asks the list of the file that holds the record before.
func (p *part) cronBefore(r *events.Record) (cronRow, bool, error) {
	if p.base != nil && r.Previous >= p.file.First {
		return p.base.cronJob(r.Stream)
	}
	l, err := p.earlier(r.Previous)
	if l == nil || err != nil {
		return cronRow{}, false, err
	}
	k, ok, err := l.cronJob(r.Stream)
	if errors.Is(err, errMalformed) {
		return cronRow{}, false, nil // that list is damaged: the file's own state tells
	}
	k.state, k.names = nil, nil // the file begins with a state of its own
	return k, ok, err
}

// mostBack is how many records of a CronJob are looked at for its newest due time, where no list knows of it.
const mostBack = 256

// cronHistory is what a file's state does not say of a CronJob, where no list knows of it: with which record it begins,
// and its newest due time. What is damaged or no longer kept is left out.
func (p *part) cronHistory(ctx context.Context, r *events.Record) (k cronRow, err error) {
	k.key, k.UID = cmp.Or(r.Previous, r.Sequence), r.Stream.ID
	for old, unread := range p.log.ReadStream(ctx, r.Stream, 0, store.Forward) {
		if err = failedRead(unread); unread != nil {
			break
		}
		if k.key = cmp.Or(old.Previous, old.Sequence); old.Previous == 0 {
			k.First = uint64(old.Sequence)
		}
		break
	}
	m, n := history.Memory{Of: &k.CronSummary}, 0
	for old, unread := range p.log.ReadStream(ctx, r.Stream, r.Previous, store.Backward) {
		if unread != nil {
			err = cmp.Or(err, failedRead(unread))
			break
		}
		if n++; n > mostBack || m.Take(&old) {
			break
		}
	}
	m.End()
	return k, err
}

// failedRead is an error that may not come again: a list that was made beside it would be wrong for ever. nil for
// damage, and for what is no longer kept.
func failedRead(err error) error {
	if errors.Is(err, store.ErrPruned) || errors.Is(err, store.ErrCorrupt) {
		return nil
	}
	return err
}

// cronRows are those of the CronJobs that were folded.
func (p *part) cronRows() []cronRow {
	accounts := p.fold.CronAccounts()
	out := make([]cronRow, len(accounts))
	for i, a := range accounts {
		out[i] = cronRow{key: p.keys[a.Stream], CronSummary: history.CronSummaryOf(a)}
	}
	return out
}

// mergeCrons gives the CronJobs of the list, replaced by those that were folded and joined by new ones, in the order of
// their UIDs, with states of those that are not over if the list may go on.
func (p *part) mergeCrons(states bool, add func(key, content []byte) error) error {
	all := map[string]cronRow{}
	for it, err := range p.old(func(l *list) *table { return &l.crons }) {
		if err != nil {
			return err
		}
		r, err := decodeCronRow(slices.Clone(it.content))
		if err != nil {
			return err
		}
		if p.whole {
			r.state, r.names = p.cronState(r.UID)
		}
		all[r.UID] = r
	}
	for _, r := range p.cronRows() {
		r.state, r.names = p.cronState(r.UID)
		all[r.UID] = r
	}
	for _, uid := range slices.Sorted(maps.Keys(all)) {
		r := all[uid]
		if !states {
			r.state, r.names = nil, nil
		}
		content, err := r.encode()
		if err != nil {
			return err
		}
		if err := add([]byte(uid), content); err != nil {
			return err
		}
	}
	return nil
}

// cronState is what the fold keeps of a CronJob that is not over.
func (p *part) cronState(uid string) (state, names []byte) {
	state, names, _ = p.fold.World().StreamState(events.CronJobStream(types.UID(uid)))
	return state, names
}

// restoreCrons takes in the states of all CronJobs that the list keeps and for which no record was folded.
func (p *part) restoreCrons() error {
	for it, err := range p.base.crons.all {
		if err != nil {
			return err
		}
		r, err := decodeCronRow(it.content)
		if err != nil {
			return err
		}
		s := events.CronJobStream(types.UID(r.UID))
		if len(r.state) > 0 && p.fold.CronAccount(s) == nil {
			if err := p.restore(s, r.state, r.names); err != nil {
				return err
			}
		}
	}
	return nil
}
