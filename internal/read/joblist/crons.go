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

// CronJobs live for years, and each file has a stored state of every CronJob. So unlike Jobs they are in the list of
// every file, by UID, with their state if the list can continue. A page reads the CronJobs of all lists, which are few.

// cronRow is one CronJob in a list.
type cronRow struct {
	key          events.Sequence // first record of the CronJob that the log holds
	state, names []byte          // set if the list can continue; nil for a CronJob that is gone
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

// cronJob finds a CronJob by its stream.
func (l *list) cronJob(s events.Stream) (r cronRow, ok bool, err error) {
	content, ok, err := l.crons.find([]byte(s.ID))
	if !ok {
		return r, false, err
	}
	r, err = decodeCronRow(content)
	return r, true, err
}

// CronJobs returns the CronJobs that a query selects. With an error that is store.ErrCorrupt, it also returns the
// CronJobs of the files that can be read.
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
	found := map[string]cronRow{} // by UID; the row of the newest file that has the CronJob
	for _, f := range slices.Backward(m.files) {
		if err := ctx.Err(); err != nil {
			return page, err
		}
		if f.End.Sequence != 0 && f.End.Sequence < f.First {
			continue // empty file
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

// settle updates the rows with how, which brings CronJobs to the present.
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

// pastCrons orders CronJobs whose first records are pruned after all others, by creation: their keys differ between
// lists.
func (m *merge) pastCrons(found map[string]cronRow) {
	var past []cronRow
	for _, r := range found {
		if r.key < m.first {
			past = append(past, r)
		}
	}
	slices.SortFunc(past, func(a, b cronRow) int { return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.UID, b.UID)) })
	for i, r := range past {
		// The key is less than the first kept record: at least one record of each is pruned.
		r.key, r.First = events.Sequence(i), 0
		found[r.UID] = r
	}
}

// cronsOf calls take for the CronJobs of a file, the newest row of each first.
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
		if err != nil { // a list is derived: the records tell
			m.forget(f)
			p, err := m.fold(f, nil)
			if err != nil {
				return err
			}
			for _, r := range p.cronRows() {
				take(&r)
			}
			return nil
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
	return p.restoreCron(r.Stream, &k)
}

// restoreCron begins the account of a CronJob with what a list has of it.
func (p *part) restoreCron(s events.Stream, k *cronRow) error {
	if len(k.state) > 0 {
		if err := p.restore(s, k.state, k.names); err != nil {
			return err
		}
	}
	p.keys[s] = k.key
	p.fold.RecallCron(k.CronSummary)
	return nil
}

// cronBefore looks the CronJob up in the list of the file that holds its record before r.
func (p *part) cronBefore(r *events.Record) (cronRow, bool, error) {
	if p.base != nil && r.Previous >= p.file.First {
		return p.base.cronJob(r.Stream)
	}
	l, err := p.earlier(r.Previous)
	if l == nil || err != nil {
		return cronRow{}, false, err
	}
	k, ok, damaged := l.cronJob(r.Stream) // if that list is damaged, the file's own state tells
	k.state, k.names = nil, nil           // this file begins with a state of its own
	return k, ok && damaged == nil, nil
}

// cronHistory finds what the stored state of a file lacks about a CronJob that no list has: its first record. It leaves
// out what is damaged. If the first record is pruned, the key says so (pastCrons).
func (p *part) cronHistory(ctx context.Context, r *events.Record) (k cronRow, err error) {
	k.key, k.UID = r.Previous, r.Stream.ID
	for old, unread := range p.log.ReadStream(ctx, r.Stream, 0, store.Forward) {
		if unread != nil {
			return k, failedRead(unread)
		}
		k.key, k.First = cmp.Or(old.Previous, old.Sequence), uint64(old.Sequence)
		break
	}
	return k, nil
}

// failedRead returns err if it may be transient, and nil for damage and pruned records. A list that is written in spite
// of a transient error would stay wrong.
func failedRead(err error) error {
	if errors.Is(err, store.ErrPruned) || errors.Is(err, store.ErrCorrupt) {
		return nil
	}
	return err
}

// cronRows returns the rows of the folded CronJobs.
func (p *part) cronRows() []cronRow {
	accounts := p.fold.CronAccounts()
	out := make([]cronRow, len(accounts))
	for i, a := range accounts {
		out[i] = cronRow{key: p.keys[a.Stream], CronSummary: history.CronSummaryOf(a)}
	}
	return out
}

// mergeCrons adds the CronJobs of the old list and the folded ones in the order of their UIDs. A folded row replaces
// the old row of its CronJob. With states, it adds the states of existing CronJobs, so that the list can continue.
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

// cronState returns the state of an existing CronJob from the fold.
func (p *part) cronState(uid string) (state, names []byte) {
	state, names, _ = p.fold.World().StreamState(events.CronJobStream(types.UID(uid)))
	return state, names
}

// restoreCrons restores the list's CronJobs that exist and have no folded record.
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
			if err := p.restoreCron(s, &r); err != nil {
				return err
			}
		}
	}
	return nil
}
