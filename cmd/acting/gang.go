package acting

import (
	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
)

// gangFlag chooses for which Jobs groups are made. Without a value it is all.
const gangFlag = "gang-scheduling"

func addGangFlag(flags *pflag.FlagSet, value *string) {
	flags.StringVar(value, gangFlag, "", "make a Workload and a PodGroup for Jobs, so that their pods can start together: all Jobs without an owner, "+
		"or asked, those with a spec.scheduling (Kubernetes 1.37); with 1.36 Indexed Jobs whose pods all run at once")
	flags.Lookup(gangFlag).NoOptDefVal = "all"
}

// gangSettings are what the flag's value asks for. By which version of the API groups are made follows from the server.
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
