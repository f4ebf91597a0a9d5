// The list of versions in the sidebar. It comes from versions.json, which lies beside the folders of the versions
// (docs/_ext/add_version.py). Without that file, the list shows this version only.
document.addEventListener("DOMContentLoaded", async () => {
  const list = document.getElementById("versions");
  const here = new URL(list.dataset.root, location.href);
  const root = new URL("..", here);
  const answer = await fetch(new URL("versions.json", root)).catch(() => null);
  if (!answer?.ok) return;
  const version = here.pathname.split("/").at(-2);
  const { versions } = await answer.json();
  list.replaceChildren(...versions.map((name) => new Option(name, name, name === version)));
  list.disabled = versions.length < 2;
  list.addEventListener("change", async () => {
    const chosen = new URL(`${list.value}/`, root);
    const page = new URL(location.pathname.slice(here.pathname.length), chosen);
    // Another version may not have this page.
    const found = await fetch(page, { method: "HEAD" }).then(({ ok }) => ok, () => false);
    location.href = found ? page.href : chosen.href;
  });
});
