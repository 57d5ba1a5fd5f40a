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

// A CronJob lives for years, and each file of the log has a checkpoint of it: a record with its whole state. So the
// list of each file (its .jobs index file) has all CronJobs, while it has only the Jobs with records in this file. A
// page of CronJobs reads the CronJobs of all lists, since there are few.

// cronRow is one CronJob in a list (the .jobs index file of one log file): its key, its summary, and its state.
type cronRow struct {
	// key is the first record of the CronJob that the log holds, or if older records are pruned (deleted), the record
	// before that one.
	key          events.Sequence
	state, names []byte // encoded state, if a fold can continue from the list; nil for a deleted CronJob
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

// cronJob returns from the list the row of the CronJob with stream s (its records in the log). ok is false if there is
// none.
func (l *list) cronJob(s events.Stream) (r cronRow, ok bool, err error) {
	content, ok, err := l.crons.find([]byte(s.ID))
	if !ok {
		return r, false, err
	}
	r, err = decodeCronRow(content)
	return r, true, err
}

// CronJobs returns the CronJobs that query q selects, the newest first. If files of the log are damaged, the error is
// store.ErrCorrupt, and the page has the CronJobs of the readable files.
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
	// found is by UID. Files are read from the newest on, so each row is from the newest file that has the CronJob.
	found := map[string]cronRow{}
	for _, f := range slices.Backward(m.files) {
		if err := ctx.Err(); err != nil {
			return page, err
		}
		if f.End.Sequence != 0 && f.End.Sequence < f.First {
			continue // the file is empty
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

// settle updates the rows to the present time: it calls how (CronListQuery.Settle) with their summaries. If how is nil,
// it does nothing.
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

// pastCrons makes the CronJobs whose first records are pruned (deleted with old log files) the oldest of the page,
// ordered by creation. It gives them new keys, because lists of different age have different keys for them.
func (m *merge) pastCrons(found map[string]cronRow) {
	var past []cronRow
	for _, r := range found {
		if r.key < m.first {
			past = append(past, r)
		}
	}
	slices.SortFunc(past, func(a, b cronRow) int { return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.UID, b.UID)) })
	for i, r := range past {
		// The new key i is lower than m.first: at least one record of each CronJob in past is pruned.
		r.key, r.First = events.Sequence(i), 0
		found[r.UID] = r
	}
}

// cronsOf calls take with each row of the CronJobs in file f of the log: first with the rows from newer records, then
// with the rows of the file's list. So of two rows of a CronJob, the newer one comes first.
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
		if err != nil { // if the row cannot be decoded, read the records: the list is only a copy of what they say
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

// recallCron adds to the fold what was known of a CronJob before record r. Record r is the first one of the CronJob in
// this fold (the fold reads only a part of the log).
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

// restoreCron adds the state and the summary of a CronJob, which row k of a list has, to the fold.
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

// cronBefore returns the row that a list has for the CronJob of record r. It uses the list of the log file that holds
// the record before r of the same CronJob. ok is false if that list lacks the CronJob, or cannot be used.
func (p *part) cronBefore(r *events.Record) (cronRow, bool, error) {
	if p.base != nil && r.Previous >= p.file.First {
		return p.base.cronJob(r.Stream)
	}
	l, err := p.earlier(r.Previous)
	if l == nil || err != nil {
		return cronRow{}, false, err
	}
	k, ok, damaged := l.cronJob(r.Stream) // if that list is damaged, the checkpoint in this file is enough
	k.state, k.names = nil, nil           // this file has a checkpoint with the state, so do not restore an older one
	return k, ok && damaged == nil, nil
}

// cronHistory returns a row for a CronJob that is in no list. The row has only the key, the UID and the number of the
// first record. If that record is damaged, First stays 0. If it is pruned (deleted), the key is lower than every record
// of the log, and pastCrons finds the CronJob by it.
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

// failedRead returns err if a later read may succeed, and nil if err says that records are damaged or pruned (deleted).
// A list can be written without such records. A list that was written in spite of another error would stay wrong.
func failedRead(err error) error {
	if errors.Is(err, store.ErrPruned) || errors.Is(err, store.ErrCorrupt) {
		return nil
	}
	return err
}

// cronRows returns a row for each CronJob with a record in the fold.
func (p *part) cronRows() []cronRow {
	accounts := p.fold.CronAccounts()
	out := make([]cronRow, len(accounts))
	for i, a := range accounts {
		out[i] = cronRow{key: p.keys[a.Stream], CronSummary: history.CronSummaryOf(a)}
	}
	return out
}

// mergeCrons calls add for all CronJobs, in the order of their UIDs: those of the old list, and those of the fold of
// newer records. If both have a CronJob, only the fold's row counts. If states is set, the rows also have the states of
// existing CronJobs, from which the next fold can continue.
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

// cronState returns the encoded state of an existing CronJob, as of the newest record in the fold.
func (p *part) cronState(uid string) (state, names []byte) {
	state, names, _ = p.fold.World().StreamState(events.CronJobStream(types.UID(uid)))
	return state, names
}

// restoreCrons adds to the fold the states of the CronJobs that are in the old list and have no record in the fold.
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
