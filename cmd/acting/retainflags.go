package acting

import (
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/run/controller"
	"github.com/jobledger/jobledger/store"
)

// retainFlags are the flags about how much of the log is kept: its largest size, and the age of its records.
type retainFlags struct {
	size string
	keep store.Retention
}

// Smallest and largest size that the flag may set. A log reserves disk space before it needs it; in a smaller log, that
// would be most of the space.
const (
	leastLogSize = 16 << 20
	mostLogSize  = 1 << 50
	leastLogAge  = time.Hour
)

func (f *retainFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.size, controller.MaxSizeFlag, "0",
		"how large the files of the log may be together, such as 8Gi: then the oldest records go; 0 for any size")
	flags.DurationVar(&f.keep.MaxAge, controller.MaxAgeFlag, 0, "how old records may be, about, such as 2160h: then they go; 0 for any age")
}

// validate returns a usage error for values outside the limits.
func (f *retainFlags) validate() error {
	size, err := resource.ParseQuantity(f.size)
	if f.keep.MaxBytes = size.Value(); err != nil || f.keep.MaxBytes != 0 && (f.keep.MaxBytes < leastLogSize || f.keep.MaxBytes > mostLogSize) {
		return cli.Usage("--%s=%s: must be 0, or from 16Mi to 1Pi", controller.MaxSizeFlag, f.size)
	}
	if f.keep.MaxAge != 0 && f.keep.MaxAge < leastLogAge {
		return cli.Usage("--%s=%s: must be 0, or %s and more", controller.MaxAgeFlag, f.keep.MaxAge, leastLogAge)
	}
	return nil
}
