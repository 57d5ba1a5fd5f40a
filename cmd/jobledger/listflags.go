package main

import (
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
)

// Flags that several commands have, one type each: its name, its help and what is refused are the same everywhere.

// limitFlag is --limit; 0 is for all.
type limitFlag struct{ most int }

func (f *limitFlag) add(cmd *cobra.Command, usual int, help string) {
	cmd.Flags().IntVar(&f.most, "limit", usual, help+"; 0 for all")
}

func (f *limitFlag) validate() error { return notNegative("limit", f.most) }

func notNegative(flag string, n int) error {
	if n < 0 {
		return usage("--%s %d: must be 0 or more", flag, n)
	}
	return nil
}

// selectorFlag is -l, that of kubectl.
type selectorFlag struct{ text string }

func (f *selectorFlag) add(cmd *cobra.Command, help string) {
	cmd.Flags().StringVarP(&f.text, "selector", "l", "", help+", such as team=data,app!=web")
}

// parse reads the flag; nil when all are wanted.
func (f *selectorFlag) parse() (labels.Selector, error) {
	if f.text == "" {
		return nil, nil
	}
	s, err := labels.Parse(f.text)
	if err != nil {
		return nil, usage("-l %q: %v", f.text, err)
	}
	return s, nil
}
