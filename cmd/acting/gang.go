package acting

import (
	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
)

// gangFlag is the name of the flag that says for which Jobs gangs are made. A gang is a Workload and a PodGroup, so
// that all pods start together. The flag without a value means all Jobs.
const gangFlag = "gang-scheduling"

func addGangFlag(flags *pflag.FlagSet, value *string) {
	flags.StringVar(value, gangFlag, "", "make a Workload and a PodGroup for Jobs, so that their pods can start together: all Jobs without an owner, "+
		"or asked, those with a spec.scheduling (Kubernetes 1.37); with 1.36 Indexed Jobs whose pods all run at once")
	flags.Lookup(gangFlag).NoOptDefVal = "all"
}

// gangSettings returns what the value of the flag means: whether gangs are made (on), and by which rule. Which version
// of the gang API is used depends on the server, and is decided at the start.
func gangSettings(value string) (on bool, rule events.GangRule, err error) {
	switch value {
	case "", "false":
		return false, events.GangsByShape, nil
	case "all", "true":
		return true, events.GangsOfRoots, nil
	case "asked":
		return true, events.GangsAsked, nil
	}
	return false, events.GangsByShape, cli.Usage("--%s=%s: it is all or asked", gangFlag, value)
}
