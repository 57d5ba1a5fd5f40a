package jobcase

import (
	"github.com/jobledger/jobledger/internal/read/explain"
)

// Likened replaces the names of the Job and its pods in a text with "*", and numbers with "#", so that texts about
// different pods and Jobs can be compared: "pod a-x2x7k took 30s" becomes "pod * took #s".
func (c *Case) Likened(text string) string { return explain.Liken(text, c.Job.Name) }
