"""What the demo's agents may answer from: the documents of a small shop that does not exist."""

DOCUMENTS: dict[str, str] = {
    "Refunds": (
        "# Refund policy\n\n"
        "You can return a licence within 30 days of purchase and get the full amount back, no questions asked. "
        "After 30 days we refund the unused months of an annual plan. Refunds reach your bank in 5 to 7 working days.\n\n"
        "## How to return a licence\n\n"
        "Open Account, then Licences, choose the licence and press Return. You get a confirmation by mail."
    ),
    "Shipping": (
        "# Shipping times\n\n"
        "Printed handbooks are sent from Hamburg. Shipping takes 2 to 3 working days within Germany, 4 to 6 within the EU "
        "and 8 to 12 to Canada, the United States and the rest of the world.\n\n"
        "## Tracking\n\n"
        "Every parcel has a tracking number. We mail it to you on the day the handbook is sent."
    ),
    "Opening hours": (
        "# Opening hours\n\n"
        "Our support desk is open Monday to Friday from 9:00 to 18:00 and on Saturday from 10:00 to 14:00, "
        "Central European Time. On Sundays and public holidays the office is closed.\n"
    ),
    "Passwords": (
        "# Reset your password\n\n"
        "To reset your password, open the sign-in page, press Forgot password and enter your mail address. "
        "The reset link is valid for 60 minutes. If no mail arrives, look into the spam folder and ask for a new link.\n\n"
        "We never send or change passwords by mail."
    ),
    "Invoices": (
        "# Download an invoice\n\n"
        "You find all invoices as PDF under Account, then Billing, then Invoices. Press Download beside the month. "
        "The billing address can be changed there before the invoice is issued.\n\n"
        "# Rechnung herunterladen\n\n"
        "Alle Rechnungen finden Sie als PDF unter Konto, dann Abrechnung, dann Rechnungen. "
        "Klicken Sie neben dem Monat auf Herunterladen."
    ),
}
