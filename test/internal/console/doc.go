// Package console reads the shell sessions of a page: its "console" blocks.
package console
