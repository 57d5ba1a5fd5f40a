package apiserver

import (
	"fmt"
	"math/rand/v2"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/sim/clock"
)

// Config configures a Server; both fields are required.
type Config struct {
	// Clock gives creation and deletion times, and runs calls that take effect late.
	Clock *clock.Clock
	// Rand gives UIDs and generated names. Nothing else may draw from it, or a change elsewhere changes all names.
	Rand *rand.Rand
}

// Server is the simulated API server; the package comment describes it.
type Server struct {
	clock   *clock.Clock
	rand    *rand.Rand
	version uint64 // resource version of the newest write
	born    uint64 // number of objects created; makes UIDs unique
	touched uint64 // number of edits by [Server.Touch]
	lives   uint64 // how often a backup was restored
	changes uint64 // number of changes of the stored state: writes and restores
	tables  map[Kind]*table

	groupsOff bool // Workloads and PodGroups of Kubernetes 1.37 are not served

	writes []Write
	calls  []Answered
}

// table has the objects of one kind, and all watch events about them.
type table struct {
	live      map[Key]Object
	order     []Object // the values of live, sorted by namespace and name
	events    []Event
	compacted uint64 // a watch that starts before this version gets 410
}

// New returns a server with one object, the namespace "default".
func New(cfg Config) *Server {
	s := &Server{clock: cfg.Clock, rand: cfg.Rand, tables: map[Kind]*table{}}
	for _, k := range kinds {
		s.tables[k] = &table{live: map[Key]Object{}}
	}
	if _, err := s.createNamespace("kube-apiserver", metav1.NamespaceDefault); err != nil {
		panic(err) // no error is possible: an empty server accepts any namespace
	}
	return s
}

// Version returns the resource version of the newest write.
func (s *Server) Version() uint64 { return s.version }

// Clock returns the clock that the server reads.
func (s *Server) Clock() *clock.Clock { return s.clock }

// now returns the present time in the precision of stored objects: whole seconds.
func (s *Server) now() metav1.Time { return metav1.NewTime(s.clock.Now()).Rfc3339Copy() }

// Job returns the stored Job; nil if there is none.
func (s *Server) Job(namespace, name string) *batchv1.Job {
	return lookup[*batchv1.Job](s, Jobs, Key{namespace, name})
}

// Pod returns the stored Pod; nil if there is none.
func (s *Server) Pod(namespace, name string) *corev1.Pod {
	return lookup[*corev1.Pod](s, Pods, Key{namespace, name})
}

// Namespace returns the stored Namespace; nil if there is none.
func (s *Server) Namespace(name string) *corev1.Namespace {
	return lookup[*corev1.Namespace](s, Namespaces, Key{Name: name})
}

// AllJobs returns copies of all Jobs, sorted by namespace and name.
func (s *Server) AllJobs() []*batchv1.Job { return all[*batchv1.Job](s, Jobs) }

// AllPods returns copies of all Pods, sorted by namespace and name.
func (s *Server) AllPods() []*corev1.Pod { return all[*corev1.Pod](s, Pods) }

// StoredJobs returns the stored Jobs themselves, sorted by namespace and name. They must not be changed.
func (s *Server) StoredJobs() []*batchv1.Job { return stored[*batchv1.Job](s, Jobs) }

// StoredPods returns the stored Pods themselves, sorted by namespace and name. They must not be changed.
func (s *Server) StoredPods() []*corev1.Pod { return stored[*corev1.Pod](s, Pods) }

// PodsOf returns copies of the Pods that the Job with this UID controls, sorted by namespace and name.
func (s *Server) PodsOf(job types.UID) []*corev1.Pod {
	var out []*corev1.Pod
	for _, o := range s.sorted(Pods) {
		if ControllerOf(o) == job {
			out = append(out, o.(*corev1.Pod).DeepCopy())
		}
	}
	return out
}

func lookup[T Object](s *Server, k Kind, key Key) T {
	var none T
	o, ok := s.tables[k].live[key]
	if !ok {
		return none
	}
	return clone(o.(T))
}

func all[T Object](s *Server, k Kind) []T {
	out := stored[T](s, k)
	for i, o := range out {
		out[i] = clone(o)
	}
	return out
}

func stored[T Object](s *Server, k Kind) []T {
	objects := s.sorted(k)
	out := make([]T, len(objects))
	for i, o := range objects {
		out[i] = o.(T)
	}
	return out
}

// sorted returns the stored objects of a kind themselves, sorted by namespace and name. The slice belongs to the table,
// and is valid until the next write.
func (s *Server) sorted(k Kind) []Object { return s.tables[k].order }

// put stores an object under its key; it replaces an earlier version.
func (t *table) put(o Object) {
	key := keyOf(o)
	t.live[key] = o
	if at, there := t.find(key); there {
		t.order[at] = o
	} else {
		t.order = slices.Insert(t.order, at, o)
	}
}

func (t *table) remove(key Key) {
	delete(t.live, key)
	if at, there := t.find(key); there {
		t.order = slices.Delete(t.order, at, at+1)
	}
}

// find returns the index of a key in order; if it is not there, the index at which it would be inserted.
func (t *table) find(key Key) (at int, there bool) {
	return slices.BinarySearchFunc(t.order, key, func(o Object, key Key) int { return compareKeys(keyOf(o), key) })
}

func sortObjects(objects []Object) {
	slices.SortFunc(objects, func(a, b Object) int { return compareKeys(keyOf(a), keyOf(b)) })
}

func compareKeys(a, b Key) int {
	switch {
	case a == b:
		return 0
	case a.Namespace < b.Namespace, a.Namespace == b.Namespace && a.Name < b.Name:
		return -1
	default:
		return 1
	}
}

// newUID returns a random UID. It contains the number of objects created so far, so no two are equal.
func (s *Server) newUID() types.UID {
	s.born++
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x",
		s.born, s.rand.IntN(1<<16), s.rand.IntN(1<<12), s.rand.IntN(1<<12), s.rand.Int64N(1<<48)))
}

// Parts of generated names: at most 58 characters of generateName and 5 random ones. If such a name exists, 8 others
// are tried.
const (
	maxNameLength       = 63
	generatedNameSuffix = 5
	maxGeneratedPrefix  = maxNameLength - generatedNameSuffix
	nameAlphabet        = "bcdfghjklmnpqrstvwxz2456789"
	generateNameRetries = 8
)

func (s *Server) generateName(prefix string) string {
	if len(prefix) > maxGeneratedPrefix {
		prefix = prefix[:maxGeneratedPrefix]
	}
	suffix := make([]byte, generatedNameSuffix)
	for i := range suffix {
		suffix[i] = nameAlphabet[s.rand.IntN(len(nameAlphabet))]
	}
	return prefix + string(suffix)
}

func (s *Server) get(k Kind, key Key) (Object, error) {
	o, ok := s.tables[k].live[key]
	if !ok {
		return nil, apierrors.NewNotFound(k.resource(), key.Name)
	}
	return o, nil
}
