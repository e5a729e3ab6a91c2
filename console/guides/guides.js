/** A button on each block of code that copies it. Without scripts the page has none. */

for (const pre of document.querySelectorAll('figure:not(.output) > pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(`${pre.textContent}\n`);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2_000);
  });
  // Not where there is no clipboard: over plain HTTP from another machine.
  if (navigator.clipboard !== undefined) pre.before(button);
}
