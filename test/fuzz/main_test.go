package fuzz

import (
	"testing"

	"github.com/jobledger/jobledger/test/internal/suite"
)

var shared suite.Suite

func TestMain(m *testing.M) { shared.Main(m, suite.Options{AuditBodies: true}) }
