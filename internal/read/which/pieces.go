package which

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// Match is one result of a search: an object, or a record of the log. Its JSON changes only by adding fields.
type Match struct {
	Kind      string             `json:"kind"` // "Job", "CronJob", "pod" or "record"
	Namespace string             `json:"namespace,omitempty"`
	Name      string             `json:"name,omitempty"`
	UID       string             `json:"uid,omitempty"`
	State     string             `json:"state,omitempty"`  // state of a Job or a CronJob
	Created   recordjson.Instant `json:"created,omitzero"` // creation of a Job or a CronJob
	Of        string             `json:"of,omitempty"`     // for a pod: NAMESPACE/NAME of its Job
	OfUID     string             `json:"ofUID,omitempty"`  // for a pod: UID of its Job
	// Record is the number of the record that was found. For a pod, it is the first record that names the pod.
	Record  uint64             `json:"record,omitempty"`
	Says    string             `json:"says,omitempty"`    // for a record: its kind and details
	At      recordjson.Instant `json:"at,omitzero"`       // time of Record
	Matched string             `json:"matched,omitempty"` // field that has the text: "name", "uid" or "record"

	rank int // 0: the name equals the text; 1: the name begins with it; 2: it is elsewhere in the name or UID
}

// Pieces is the result of a search by Finder.Pieces. Its JSON changes only by adding fields.
type Pieces struct {
	Items    []Match `json:"items"`
	Jobs     int     `json:"jobs"`              // number of Jobs that were searched, from the newest
	CronJobs int     `json:"cronJobs"`          // number of CronJobs that were searched, from the newest
	PodsOf   int     `json:"podsOf"`            // number of the searched Jobs whose pods were searched, too
	Older    bool    `json:"older,omitempty"`   // there are older Jobs or CronJobs, which were not searched
	Omitted  int     `json:"omitted,omitempty"` // number of matches beyond the limit
}

// MostPieces is how many of the newest Jobs, and of the newest CronJobs, a search covers.
const MostPieces = 50_000

// Limits of a search.
const (
	mostPodsOf    = 1_000  // the newest Jobs, whose records are searched for pods
	mostPodReads  = 50_000 // limit of the records that are read for pods, over all these Jobs
	piecesAtOnce  = 1_000  // number of Jobs or CronJobs that one read returns
	shortestPiece = 3      // pods are not searched for a text of fewer characters
)

// Pieces finds objects and records by a text: Jobs and CronJobs by a part of the name or UID, pods by a part of the
// name, and a record by its number. Case does not matter. Names that equal the text come first, then names that begin
// with it, then the others; newer ones before older ones. It returns no more matches than `most`. An empty namespace
// means all namespaces.
func (f *Finder) Pieces(ctx context.Context, text, namespace string, most int) (*Pieces, error) {
	l := &pieces{Finder: f, ctx: ctx, text: strings.ToLower(text), namespace: namespace}
	for _, look := range []func() error{l.record, l.jobs, l.cronJobs, l.pods} {
		err := look()
		if err != nil && !f.Source.Beside(err) {
			return nil, err
		}
		l.unread = cmp.Or(err, l.unread)
	}
	slices.SortStableFunc(l.found.Items, func(a, b Match) int { return cmp.Compare(a.rank, b.rank) })
	if n := len(l.found.Items); n > most {
		l.found.Items, l.found.Omitted = l.found.Items[:most], n-most
	}
	return &l.found, l.unread
}

// pieces is the state of one search by Finder.Pieces.
type pieces struct {
	*Finder
	ctx       context.Context
	text      string // the text to search, in lower case
	namespace string
	found     Pieces
	newest    []history.Summary // the newest Jobs, up to 1000: their pods are searched
	unread    error
}

// match reports whether the name or the UID of an object contains the text. field says which of the two, and rank how
// well it matches (Match.rank).
func (l *pieces) match(name, uid string) (field string, rank int, is bool) {
	lower := strings.ToLower(name)
	switch {
	case lower == l.text || uid == l.text:
		rank = 0
	case strings.HasPrefix(lower, l.text):
		rank = 1
	default:
		rank = 2
	}
	switch {
	case strings.Contains(lower, l.text):
		return "name", rank, true
	case strings.Contains(uid, l.text):
		return "uid", rank, true
	}
	return "", 0, false
}

// record finds the record whose number is the text: "384" or "#384".
func (l *pieces) record() error {
	n, err := strconv.ParseUint(strings.TrimPrefix(l.text, "#"), 10, 64)
	if err != nil {
		return nil //nolint:nilerr // the text is no record number
	}
	r, err := history.Record(l.ctx, l.Source, events.Sequence(n))
	switch {
	case errors.Is(err, history.ErrNoRecord):
		return nil
	case err != nil:
		return err
	}
	names := history.NamesOf(l.ctx, l.Source)
	namespace := names.Namespace(&r)
	if l.namespace != "" && namespace != l.namespace {
		return nil
	}
	l.found.Items = append(l.found.Items, Match{
		Kind: "record", Namespace: namespace, Name: names.Object(&r), Record: n, At: recordjson.Instant(r.Time),
		Says: strings.TrimSpace(r.Kind.String() + " " + names.Detail(&r)), Matched: "record",
	})
	return nil
}

func (l *pieces) jobs() error {
	q := history.JobsQuery{Namespace: l.namespace, Limit: piecesAtOnce}
	for {
		page, err := l.Source.Jobs(l.ctx, q)
		if err != nil && !l.Source.Beside(err) {
			return fmt.Errorf("look at Jobs: %w", err)
		}
		for i := range page.Items {
			s := &page.Items[i]
			if l.found.Jobs++; len(l.newest) < mostPodsOf {
				l.newest = append(l.newest, *s)
			}
			if field, rank, is := l.match(s.Name, s.UID); is {
				l.found.Items = append(l.found.Items, Match{
					Kind: "Job", Namespace: s.Namespace, Name: s.Name, UID: s.UID, State: string(s.State), Created: s.Created, Matched: field, rank: rank,
				})
			}
		}
		if q.Continue = page.Continue; q.Continue == "" || l.found.Jobs >= MostPieces {
			l.found.Older = l.found.Older || q.Continue != ""
			return err
		}
	}
}

func (l *pieces) cronJobs() error {
	q := history.CronJobsQuery{Namespace: l.namespace, Limit: piecesAtOnce}
	for {
		page, err := l.Source.CronJobs(l.ctx, q)
		if err != nil && !l.Source.Beside(err) {
			return fmt.Errorf("look at CronJobs: %w", err)
		}
		for i := range page.Items {
			s := &page.Items[i]
			l.found.CronJobs++
			if field, rank, is := l.match(s.Name, s.UID); is {
				l.found.Items = append(l.found.Items, Match{
					Kind: "CronJob", Namespace: s.Namespace, Name: s.Name, UID: s.UID, State: string(s.State), Created: s.Created, Matched: field, rank: rank,
				})
			}
		}
		if q.Continue = page.Continue; q.Continue == "" || l.found.CronJobs >= MostPieces {
			l.found.Older = l.found.Older || q.Continue != ""
			return err
		}
	}
}

// pods finds pods by name. It first searches the Jobs whose name begins the text ("etl" for "etl-x7k2p"). If these have
// no such pod, it searches the other Jobs, the newest first.
func (l *pieces) pods() error {
	if len(l.text) < shortestPiece || strings.ContainsAny(l.text, "#/") {
		return nil
	}
	reads := 0
	var unread error
	for _, own := range []bool{true, false} {
		before := len(l.found.Items)
		for i := range l.newest {
			s := &l.newest[i]
			if strings.HasPrefix(l.text, strings.ToLower(s.Name)+"-") != own || reads >= mostPodReads {
				continue
			}
			l.found.PodsOf++
			n, err := l.podsOf(s, mostPodReads-reads)
			if reads += n; err != nil && !l.Source.Beside(err) {
				return fmt.Errorf("look at pods of job/%s: %w", s.Name, err)
			} else if err != nil {
				unread = err
			}
		}
		if len(l.found.Items) > before {
			break
		}
	}
	return unread
}

// podsOf finds pods of one Job by name. It reads up to most records of the Job, and returns how many it read.
func (l *pieces) podsOf(s *history.Summary, most int) (reads int, err error) {
	stream := events.JobStream(types.UID(s.UID))
	seen := map[string]bool{}
	for r, err := range l.Source.Records(l.ctx, history.Query{Stream: &stream, Kinds: []events.Kind{events.KindPodAdded}, Limit: most}) {
		if err != nil {
			return reads, err
		}
		reads++
		name := r.Evidence.Name
		if lower := strings.ToLower(name); name == "" || seen[name] || !strings.Contains(lower, l.text) {
			continue
		}
		seen[name] = true
		_, rank, _ := l.match(name, "")
		l.found.Items = append(l.found.Items, Match{
			Kind: "pod", Namespace: s.Namespace, Name: name, Of: s.Namespace + "/" + s.Name, OfUID: s.UID, Record: uint64(r.Sequence),
			At: recordjson.Instant(r.Time), Matched: "name", rank: rank,
		})
	}
	return reads, nil
}
