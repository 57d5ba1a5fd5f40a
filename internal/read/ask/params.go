package ask

import (
	"cmp"
	"time"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// The parameters that the command does not take as flags of these names: its --namespace may be that of a kubeconfig,
// and --local is for the zone of its machine.
const (
	FlagNamespace = "namespace"
	FlagNear      = "near"
	FlagZone      = "zone"
	FlagTexts     = "texts-zone"
)

// zones are those of times for people. They are two, as a program may give times in its zone and have the answer in
// UTC.
type zones struct {
	words.Zone            // of times that are given without one
	texts      words.Zone // of times in sentences
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

// object is what the arguments name, and where it is looked for.
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

// read reads what the arguments name. A namespace before the name is as if it had been given as a flag.
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

// Limit is --limit; 0 is for all.
type Limit struct{ Most int }

// Bind adds the flag.
func (l *Limit) Bind(fs *pflag.FlagSet, usual int, help string) {
	fs.IntVar(&l.Most, "limit", usual, help+"; 0 for all")
}

// Read checks the flag.
func (l *Limit) Read() error { return NotNegative("limit", l.Most) }
