package acting

import (
	"github.com/spf13/cobra"
	_ "golang.org/x/crypto/x509roots/fallback" // the roots of public servers, such as a NATS service, where the system has none

	"github.com/jobledger/jobledger/cmd/cli"
)

// Commands returns the commands that do more than read a log.
func Commands(c *cli.CLI) []*cobra.Command {
	return []*cobra.Command{
		newRun(c), newServe(c), newSubscribe(c), newDoctor(c), newPrune(c),
		newBackup(c), newRestore(c), newClone(c), newDrill(c), newTrigger(c), newRelease(c),
	}
}
