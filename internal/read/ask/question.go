package ask

import (
	"context"
	"reflect"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/read/which"
)

// Takes says which arguments a question takes, on a command line and in the address behind its name.
type Takes int

const (
	Nothing   Takes = iota
	AnObject        // a Job, a CronJob or a pod
	AJob            // a Job, or a pod of one
	ACronJob        // a CronJob, or a Job or pod that one made
	MaybeOne        // an object, or none for all
	AnInstant       // a CronJob and a time
	AText           // the text to find
)

// Question is one question: P is the type of its parameters, A the type of its answer.
type Question[P any, A any] struct {
	name  string
	about string   // in one line
	words []string // the words of the command, if they differ from name
	takes Takes
	folds bool // it folds records, and refuses a log that needs a newer fold version
	new   func() (p *P, how parameters)
	ask   func(context.Context, Source, *P) (*A, error)
}

// parameters holds the parameters of one request, before and after they are read.
type parameters interface {
	// bind adds the parameters to a flag set, with their help and defaults.
	bind(*pflag.FlagSet)
	// read checks the parameters, which are set by then, and the arguments. Errors are a which.WrongError.
	read(args []string) error
	// about returns the namespace of the question, after read; empty for all namespaces.
	about() string
}

// Asked is one request of a question. Set its parameters in Flags, then call Read with its arguments, then Ask.
type Asked[A any] struct {
	Entry
	Flags *pflag.FlagSet

	how  parameters
	args []string
	ask  func(context.Context, Source) (*A, error)
}

// New begins a request, with default parameters.
func (q *Question[P, A]) New() *Asked[A] {
	p, how := q.new()
	a := &Asked[A]{Entry: q.Entry(), Flags: pflag.NewFlagSet(q.name, pflag.ContinueOnError), how: how}
	a.ask = func(ctx context.Context, src Source) (*A, error) { return q.ask(ctx, src, p) }
	how.bind(a.Flags)
	return a
}

// Read takes the arguments, and checks them and the parameters. Set the parameters before.
func (a *Asked[A]) Read(args []string) error {
	a.args = args
	return a.how.read(args)
}

// Arguments returns the arguments that Read took.
func (a *Asked[A]) Arguments() []string { return a.args }

// Namespace returns the namespace of the question, after Read: that of its object, or the one where the object is
// looked for first. It is empty for all namespaces.
func (a *Asked[A]) Namespace() string { return a.how.about() }

// Ask answers the question. It can return both an answer and an error: see the package's comment.
func (a *Asked[A]) Ask(ctx context.Context, src Source) (*A, error) {
	if src.Elsewhere == nil {
		return a.ask(ctx, src)
	}
	answer := new(A)
	there, err := src.Elsewhere(ctx, a.Remote(answer))
	if !there {
		return nil, err
	}
	return answer, err
}

// Entry describes a question, without the types of its parameters and answer.
type Entry struct {
	Name    string
	Command []string // the first words of the command that asks it
	About   string
	Takes   Takes
	Folds   bool
	Answer  reflect.Type
	begin   func() Request
}

// Request is an Asked with the type of its answer erased.
type Request struct {
	Flags     *pflag.FlagSet
	Read      func(args []string) error
	Namespace func() string                                                 // see Asked.Namespace
	Ask       func(ctx context.Context, src Source) (answer any, err error) // answer is nil if there is none
}

// Begin begins a request, as Question.New does.
func (e *Entry) Begin() Request { return e.begin() }

// Entry returns the description of the question.
func (q *Question[P, A]) Entry() Entry {
	words := q.words
	if words == nil {
		words = []string{q.name}
	}
	return Entry{
		Name: q.name, Command: words, About: q.about, Takes: q.takes, Folds: q.folds, Answer: reflect.TypeFor[A](),
		begin: func() Request {
			a := q.New()
			of := Request{Flags: a.Flags, Read: a.Read, Namespace: a.Namespace}
			of.Ask = func(ctx context.Context, src Source) (any, error) {
				answer, err := a.Ask(ctx, src)
				if answer == nil {
					return nil, err
				}
				return answer, err
			}
			return of
		},
	}
}

// All returns the questions, sorted by name.
func All() []Entry {
	return []Entry{
		Attempts.Entry(), CronJobs.Entry(), Explain.Entry(), Failures.Entry(), Find.Entry(), Get.Entry(), Jobs.Entry(), Next.Entry(),
		Plan.Entry(), Ticks.Entry(), Timeline.Entry(), WhyNot.Entry(),
	}
}

// Named returns the question of that name.
func Named(name string) (Entry, bool) {
	for _, e := range All() {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// NotNegative returns a which.WrongError for a number below 0.
func NotNegative(flag string, n int) error {
	if n < 0 {
		return which.Wrong("--%s %d: must be 0 or more", flag, n)
	}
	return nil
}
