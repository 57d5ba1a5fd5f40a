// Package browser has only tests. They use the pages of "jobledger ui" in a real browser, with the mouse or with the
// keyboard alone, in each width and theme, and check them with axe-core.
//
// Without Chromium ($JOBLEDGER_CHROMIUM, or chromium in the path) the tests are skipped with a message; make
// test-browser requires it.
package browser
