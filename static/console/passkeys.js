// What goes wrong with a passkey in the browser is said on the page, not in a console that nobody looks into.
"use strict";

(() => {
  const WORDS = {
    NotAllowedError: "Nothing was confirmed. Try again, and confirm within a minute.",
    InvalidStateError: "This device has a passkey for this account already.",
    SecurityError: "Passkeys need a name: open the console by its host name over https, or as http://localhost.",
    NotSupportedError: "This device cannot make such a passkey.",
  };

  document.addEventListener("allauth.error", (event) => {
    event.preventDefault();
    const place = document.querySelector("[data-passkey-error]");
    if (!place) return;
    place.hidden = false;
    place.querySelector("[data-text]").textContent = WORDS[event.detail.exception?.name] || "The passkey could not be used. Try again.";
  });

  document.addEventListener("DOMContentLoaded", () => {
    if (window.PublicKeyCredential) return;
    document.querySelectorAll("[data-needs-passkeys]").forEach((part) => { part.hidden = true; });
  });
})();
