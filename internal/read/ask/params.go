package ask

import (
	"cmp"
	"time"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Names of flags that the command line sets itself: it takes the namespace from the kubeconfig, and with --local sets
// both time zones to that of the machine.
const (
	FlagNamespace = "namespace"
	FlagNear      = "near"
	FlagZone      = "zone"
	FlagTexts     = "texts-zone"
)

// zones has the time zones of a question. There are two, because a program may write times in its own zone, and want
// UTC in the sentences of the answer.
type zones struct {
	words.Zone            // for times that the user gives without a zone
	texts      words.Zone // for times in the sentences of the answer
	names      [2]string
}

func (z *zones) bind(fs *pflag.FlagSet) {
	fs.StringVar(&z.names[0], FlagZone, "", "time zone of times that are given without one, such as Europe/Berlin; UTC unless given")
	fs.StringVar(&z.names[1], FlagTexts, "", "time zone of the times in sentences; UTC unless given")
}

func (z *zones) read() error {
	for i, flag := range []string{FlagZone, FlagTexts} {
		if z.names[i] == "" {
			continue
		}
		location, err := time.LoadLocation(z.names[i])
		if err != nil {
			return which.Wrong("--%s %q: there is no such time zone", flag, z.names[i])
		}
		*[]*words.Zone{&z.Zone, &z.texts}[i] = words.Zone{Location: location}
	}
	return nil
}

// object is the parameter that names an object, and the namespace in which it is searched.
type object struct {
	zones
	which.Object
	namespace string
	near      string
	place     which.Place
}

func (o *object) bind(fs *pflag.FlagSet) {
	o.zones.bind(fs)
	fs.StringVarP(&o.namespace, FlagNamespace, "n", "", "where the object is; unless given it is looked for in all")
	fs.StringVar(&o.near, FlagNear, "", "the namespace that is looked at first where none is given (\"default\")")
}

// read parses the arguments: the object. A namespace before the name, as in prod/etl, is the same as --namespace.
func (o *object) read(args []string) error {
	if err := o.zones.read(); err != nil {
		return err
	}
	o.place = which.Place{Namespace: cmp.Or(o.namespace, o.near, "default"), Named: o.namespace != ""}
	if len(args) == 0 {
		return nil
	}
	h, before, err := which.Parse(args)
	o.Object = h
	if err != nil || before == "" {
		return err
	}
	o.place.Namespace, err = which.OneNamespace(args, before, o.namespace)
	o.place.Named = true
	return err
}

func (o *object) about() string {
	if o.place.Named {
		return o.place.Namespace
	}
	return o.near
}

// Limit is the flag --limit, how many items an answer has; 0 means no limit.
type Limit struct{ Most int }

// Bind adds --limit to fs. usual is its default, help begins its help text.
func (l *Limit) Bind(fs *pflag.FlagSet, usual int, help string) {
	fs.IntVar(&l.Most, "limit", usual, help+"; 0 for all")
}

// Read returns an error if --limit is negative.
func (l *Limit) Read() error { return NotNegative("limit", l.Most) }
