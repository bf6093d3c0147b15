/* The documentation site: name what the theme creates without a name, and let the keyboard scroll wide tables. */
const complete = () => {
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    table.tabIndex = 0;
    table.setAttribute("role", "group");
    table.setAttribute("aria-label", "Table");
  }
  for (const buttons of document.querySelectorAll(".md-code__nav:not([role])")) buttons.setAttribute("role", "none");
};
new MutationObserver(complete).observe(document.documentElement, { childList: true, subtree: true });
complete();
