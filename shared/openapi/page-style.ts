/** All the style of the reference page, in the reader's light or dark. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1c2330, #e4e8ef); --soft: light-dark(#5a6475, #9aa5b8);
  --paper: light-dark(#fff, #14181f); --shade: light-dark(#f4f6f9, #1c222c); --line: light-dark(#dde2ea, #2c3442);
  --link: light-dark(#0b57b7, #7db7ff); }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: 19rem minmax(0, 1fr); color: var(--ink); background: var(--paper);
  font: 1rem/1.55 system-ui, sans-serif; }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; padding: .5rem 1rem; background: var(--paper); z-index: 1; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.25rem 1rem; background: var(--shade);
  border-right: 1px solid var(--line); font-size: .875rem; }
nav .home { margin: 0; font-weight: 650; font-size: 1.05rem; }
nav h2 { margin: 1.25rem 0 .25rem; font-size: .75rem; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: .2rem .25rem; border-radius: .25rem; }
nav li a:has(.verb) { display: grid; grid-template-columns: 3.9rem 1fr; gap: .5rem; align-items: start; }
nav a { color: inherit; text-decoration: none; }
nav a:hover { background: var(--line); }
main { max-width: 60rem; padding: 1.5rem 2.5rem 6rem; }
h1 { margin: 0 0 1rem; font-size: 2rem; line-height: 1.2; }
h1 small { font-size: .875rem; font-weight: 400; color: var(--soft); }
main h2 { margin: 3rem 0 .5rem; font-size: 1.5rem; }
h3 { margin: 0 0 .25rem; font-size: 1.15rem; }
h4 { margin: 1.25rem 0 .25rem; font-size: .8rem; letter-spacing: .04em; text-transform: uppercase; color: var(--soft); }
article { padding: 1.75rem 0; border-top: 1px solid var(--line); }
article:target h3 { text-decoration: underline; text-decoration-color: var(--link); text-decoration-thickness: .15em; }
p { margin: .5rem 0; max-width: 46rem; }
code, pre { font: .875em/1.5 ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; }
p code, td code, dd code { overflow-wrap: anywhere; }
pre { margin: .5rem 0; padding: .75rem 1rem; overflow-x: auto; background: var(--shade); border: 1px solid var(--line);
  border-radius: .375rem; max-height: 24rem; }
.route { font-size: 1.05rem; }
.verb { display: inline-block; min-width: 3.6em; padding: 0 .4em; border-radius: .25rem; font: 700 .72rem/1.7 ui-monospace, monospace;
  text-align: center; text-transform: uppercase; color: #fff; background: #4b5567; }
.verb.get { background: #14629c; } .verb.post { background: #1a6b3a; } .verb.put, .verb.patch { background: #8a4b08; }
.verb.delete { background: #a32020; }
.scope { padding: .1rem .5rem; border: 1px solid var(--line); border-radius: 1rem; font-size: .8rem; color: var(--soft); white-space: nowrap; }
.wide { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { font-size: .8rem; color: var(--soft); }
tbody th { font-weight: 400; white-space: nowrap; }
tbody em { font-size: .8rem; color: light-dark(#a32020, #ff9a8f); }
td { min-width: 9rem; }
dl { margin: .25rem 0; }
dd { margin: 0 0 .25rem 1rem; }
.answers { display: grid; grid-template-columns: 3.5rem minmax(0, 1fr); gap: .25rem .5rem; }
.answers > dt { font-weight: 650; } .answers > dd { margin: 0; } .answers > dd p:first-child { margin-top: 0; }
summary { margin-top: .75rem; cursor: pointer; color: var(--soft); }
@media (max-width: 52rem) { body { display: block; } nav { position: static; height: auto; max-height: 40vh; border-right: 0;
  border-bottom: 1px solid var(--line); } main { padding: 1.25rem 1rem 4rem; } }
@media print { nav { display: none; } body { display: block; } }
`;
