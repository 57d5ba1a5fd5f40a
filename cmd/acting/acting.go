package acting

import (
	"github.com/spf13/cobra"
	// CA certificates of public servers, such as a NATS service, for a system without any
	_ "golang.org/x/crypto/x509roots/fallback"

	"github.com/jobledger/jobledger/cmd/cli"
)

// Commands returns the commands of this package, such as run and serve: those that do more than read a log.
func Commands(c *cli.CLI) []*cobra.Command {
	return []*cobra.Command{
		newRun(c), newServe(c), newSubscribe(c), newDoctor(c), newPrune(c),
		newBackup(c), newRestore(c), newClone(c), newDrill(c), newTrigger(c), newRelease(c),
	}
}
