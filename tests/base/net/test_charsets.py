"""A body without a declared encoding, or with one that its bytes refute, is read by its letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.net.charsets import (
    LEAST_HIGH_BYTES,
    SAMPLED_BYTES,
    charset_of,
    decode,
    decoded,
)

RUSSIAN = "Библиотека открыта каждый день, кроме понедельника, и вход для школьников бесплатный."
HEBREW = "הספרייה פתוחה בכל יום מלבד יום שני, והכניסה לתלמידים אינה כרוכה בתשלום."
GREEK = "Η βιβλιοθήκη είναι ανοιχτή κάθε μέρα εκτός από τη Δευτέρα και η είσοδος είναι ελεύθερη."
ARABIC = "المكتبة مفتوحة كل يوم ما عدا يوم الاثنين، والدخول مجاني للطلاب."
THAI = "ห้องสมุดเปิดทุกวันยกเว้นวันจันทร์ และนักเรียนเข้าได้โดยไม่เสียค่าใช้จ่าย"
TURKISH = (
    "Kütüphane pazartesi hariç her gün açıktır ve öğrenciler için giriş ücretsizdir. İlkbaharda ırmağın kıyısında "
    "kiraz ağaçları çiçek açar, aileler gölgede yürüyüş yapar. Kışın meydanda kurulan pazarda sıcak şarap ve "
    "zencefilli çörek satılır. Yağmurlu günlerde çocuklar içeride oyun oynar, büyükler ise çay içip gazete okur. Sığır "
    "çobanı dağdan iner, köpeği de peşinden koşar; akşam olunca herkes ışıkları yakar ve masanın başına geçer."
)
POLISH = (
    "Biblioteka jest otwarta codziennie oprócz poniedziałku, a wstęp dla uczniów jest bezpłatny; można zażółcić gęś. "
    * 3
)
SIMPLIFIED = "图书馆除星期一外每天开放，学生可以免费入场，春天河边的樱花盛开。"
TRADITIONAL = "圖書館除星期一外每天開放，學生可以免費入場，春天河邊的櫻花盛開。"
JAPANESE = "図書館は月曜日を除いて毎日開いており、学生は無料で入れます。春には桜が咲きます。"
KOREAN = "도서관은 월요일을 제외하고 매일 문을 열며 학생은 무료로 들어갈 수 있습니다."
FRENCH = "La bibliothèque est ouverte tous les jours sauf le lundi ; où êtes-vous allés cet été, à Noël, près de la forêt ?"
GERMAN = "Die Bücherei ist außer montags täglich geöffnet, für Schüler ist der Eintritt frei; am Fluß ist es schön."
SPANISH = "La biblioteca está abierta todos los días excepto el lunes; mañana habrá niños, ¿dónde está el señor Núñez?"

OTHER = [
    (RUSSIAN, "cp1251"),
    (RUSSIAN, "koi8-r"),
    (RUSSIAN, "iso8859-5"),
    (HEBREW, "cp1255"),
    (GREEK, "cp1253"),
    (ARABIC, "cp1256"),
    (THAI, "cp874"),
    (TURKISH, "cp1254"),
    (POLISH, "cp1250"),
    (POLISH, "iso8859-2"),
    (SIMPLIFIED, "gb18030"),
    (TRADITIONAL, "big5hkscs"),
    (JAPANESE, "cp932"),
    (JAPANESE, "euc_jp"),
    (KOREAN, "cp949"),
]
HEADERS = [
    "text/html",
    "text/html; charset=utf-8",
    "text/html; charset=iso-8859-1",
    "text/html; charset=windows-1252",
]


def page(text: str, codec: str, head: str = "") -> bytes:
    markup = f'<!doctype html><html><head>{head}<title>x</title></head><body class="main"><p>{{}}</p></body></html>'
    return markup.encode().replace(b"{}", text.encode(codec))


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize(("text", "codec"), OTHER, ids=[codec for _, codec in OTHER])
def test_a_page_in_another_script_is_read_by_its_letters_without_a_header_and_under_a_wrong_one(
    text: str, codec: str, header: str
) -> None:
    body = page(text, codec)
    found = decoded(body, charset_of(body, header))
    assert text in found.text
    assert not found.is_unsure


@pytest.mark.parametrize("header", HEADERS[::2])
@pytest.mark.parametrize(
    "text",
    [
        FRENCH,
        GERMAN,
        SPANISH,
        "café",
        "a price of 5 £ or 10 ½ °C · “quoted” text…",
        "smørrebrød på øen, æbler og åer i målet",
    ],
)
def test_western_text_does_not_change(text: str, header: str) -> None:
    body = page(text, "cp1252")
    found = decoded(body, charset_of(body, header))
    assert text in found.text
    assert not found.is_unsure


@pytest.mark.parametrize("text", [RUSSIAN, FRENCH, JAPANESE])
def test_utf8_with_a_few_broken_bytes_stays_utf8(text: str) -> None:
    body = page(text * 3, "utf-8") + b"\xff\xe9"
    assert text in decode(body, charset_of(body, "text/html; charset=utf-8"))
    assert decode(body, "utf-8").endswith("\ufffd\ufffd")


def test_text_that_begins_beyond_the_head_of_an_ascii_page_is_found() -> None:
    body = b"<p>plain</p>" * 10_000 + page(RUSSIAN, "cp1251")
    assert RUSSIAN in decode(body, charset_of(body, "text/html"))


def test_too_short_a_text_is_left_to_the_page_itself() -> None:
    word = "河流"
    body = page(word, "gbk", '<meta charset="gbk">')
    assert word in decode(body, charset_of(body, "text/html; charset=utf-8")), (
        "the `<meta>` knows it"
    )
    bare = page(word, "gbk")
    assert word not in decode(bare, charset_of(bare, "text/html"))


def test_a_declared_encoding_of_another_script_is_obeyed() -> None:
    body = page(RUSSIAN, "cp1251")
    assert RUSSIAN not in decode(body, charset_of(body, "text/html; charset=koi8-r"))


def test_letters_that_tell_an_encoding_too_weakly_leave_the_usual_one_and_are_unsure() -> None:
    czech = "Příliš žluťoučký kůň"
    body = page(czech, "cp1250")
    found = decoded(body, charset_of(body, "text/html"))
    assert found.is_unsure
    assert "P\u0159" not in found.text


@pytest.mark.parametrize("size", [0, LEAST_HIGH_BYTES - 1])
def test_a_few_letters_say_nothing(size: int) -> None:
    body = b"text " + "Я".encode("cp1251") * size
    assert not decoded(body, charset_of(body, "")).is_unsure
    assert decode(body, "cp1252") == body.decode("cp1252")


def test_no_more_than_a_sample_is_looked_at() -> None:
    body = (
        page(FRENCH, "cp1252") * (2 * SAMPLED_BYTES // len(FRENCH))
        + page(RUSSIAN, "cp1251") * 1_000
    )
    assert FRENCH in decode(body, "cp1252")


@given(st.binary(max_size=400), st.sampled_from(["utf-8", "cp1252"]))
def test_any_bytes_become_text(body: bytes, charset: str) -> None:
    assert isinstance(decode(body, charset), str)
