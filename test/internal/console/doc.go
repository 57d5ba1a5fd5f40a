// Package console reads the sessions that a page shows: its "console" blocks.
package console
