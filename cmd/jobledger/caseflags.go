package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// add adds the flags of a command that asks about one Job.
func (f *askFlags) add(cmd *cobra.Command, c *cli, parameters *pflag.FlagSet, formats ...string) {
	f.job.add(cmd, c, "where the Job is (\"default\")")
	f.output.addFormats(cmd, formats...)
	f.output.addLocal(cmd)
	addParameters(cmd, parameters)
	cmd.ValidArgsFunction = c.completeJobs(&f.job, false)
}

// addMany adds the flags of a command that asks about many Jobs.
func (f *askFlags) addMany(cmd *cobra.Command, c *cli, parameters *pflag.FlagSet) {
	f.job.add(cmd, c, "only Jobs in this namespace")
	f.output.add(cmd)
	f.output.addLocal(cmd)
	addParameters(cmd, parameters)
}

// oneJobArg is for commands that take one Job.
func oneJobArg(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("say which Job: job/NAME")
	}
	return atMost(2, args)
}
