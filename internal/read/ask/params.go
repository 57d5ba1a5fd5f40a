package ask

import (
	"cmp"
	"time"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Names of parameters that the command line sets itself: the namespace may come from a kubeconfig, and --local sets
// both zones to the zone of the machine.
const (
	FlagNamespace = "namespace"
	FlagNear      = "near"
	FlagZone      = "zone"
	FlagTexts     = "texts-zone"
)

// zones has two time zones, because a program may pass times in its own zone and want UTC in the sentences.
type zones struct {
	words.Zone            // for times in parameters that name no zone
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

// object is the parameter that names an object, and where to look for it.
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

// read parses the arguments. A namespace in the name, as in prod/etl, works like --namespace.
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

// Limit is the flag --limit; 0 means no limit.
type Limit struct{ Most int }

// Bind adds the flag.
func (l *Limit) Bind(fs *pflag.FlagSet, usual int, help string) {
	fs.IntVar(&l.Most, "limit", usual, help+"; 0 for all")
}

// Read checks the flag.
func (l *Limit) Read() error { return NotNegative("limit", l.Most) }
