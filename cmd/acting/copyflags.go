package acting

import (
	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/run/controller"
)

// copyFlags are the flags of run about the copy of its log.
type copyFlags struct {
	to       string
	unfenced bool
	getenv   func(string) string
}

func (f *copyFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.to, controller.CopyFlag, "", "place to copy the log to, always: a directory on another disk, or s3://BUCKET/PREFIX")
	flags.BoolVar(&f.unfenced, controller.UnfencedFlag, false, "copy also to a server that knows no conditional writes, where a second writer is not held off")
}

// validate returns the usage error of the flags, if config would return one.
func (f *copyFlags) validate() error {
	_, err := f.config()
	return err
}

// config returns where run copies its log, as the flags say, or a usage error.
func (f *copyFlags) config() (config controller.CopyConfig, err error) {
	if f.to == "" {
		if f.unfenced {
			return config, cli.Usage("--%s goes with --%s", controller.UnfencedFlag, controller.CopyFlag)
		}
		return config, nil
	}
	config.Unfenced = f.unfenced
	config.Place, err = placeOf(f.getenv, controller.CopyFlag, f.to)
	return config, err
}
